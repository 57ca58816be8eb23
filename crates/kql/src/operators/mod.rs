//! The tabular operators: one file or folder each, with the node's name.
//!
//! Filters, projections, limits, sorts, aggregations, joins and unions are DataFusion's own nodes, so that its optimiser
//! sees through them; the rest are the transforms of [`crate::exec`].

pub(crate) mod as_;
pub(crate) mod assert_schema;
pub(crate) mod consume;
pub(crate) mod count;
pub(crate) mod datatable;
pub(crate) mod distinct;
pub(crate) mod evaluate;
pub(crate) mod extend;
pub(crate) mod facet;
pub(crate) mod find;
pub(crate) mod fork;
pub(crate) mod getschema;
pub(crate) mod grouped_rows;
pub(crate) mod invoke;
pub(crate) mod join;
pub(crate) mod lookup;
pub(crate) mod macro_expand;
pub(crate) mod make_series;
pub(crate) mod mv_apply;
pub(crate) mod mv_expand;
pub(crate) mod parse;
pub(crate) mod parse_kv;
pub(crate) mod partition;
pub(crate) mod print;
pub(crate) mod project;
pub(crate) mod project_away;
pub(crate) mod project_by_names;
pub(crate) mod project_keep;
pub(crate) mod project_rename;
pub(crate) mod project_reorder;
pub(crate) mod range;
pub(crate) mod reduce;
pub(crate) mod render;
mod row_groups;
pub(crate) mod sample;
pub(crate) mod sample_distinct;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod serialize;
pub(crate) mod sort;
pub(crate) mod summarize;
pub(crate) mod take;
pub(crate) mod top;
pub(crate) mod top_hitters;
pub(crate) mod top_nested;
pub(crate) mod union;
pub(crate) mod where_;

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Operator, OperatorKind};

use crate::context::{BindContext, Bound};
use crate::error::BindResult;

#[cfg(test)]
mod tests;

/// A tabular operator of the language: a node of the syntax with its meaning.
pub(crate) trait TabularOperator {
    /// Binds the operator over `input`; an operator that starts a pipeline gets [`crate::Relation::unit`].
    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound>;
}

/// Binds one operator over `input`.
pub(crate) fn bind(
    operator: &Operator,
    input: Bound,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    match node(&operator.kind) {
        Ok(node) => node.bind(input, binder, operator.span),
        Err(name) => {
            let what = format_args!("the operator '{name}'");
            Err(binder.unsupported(what, operator.span))
        }
    }
}

/// The operator that a node is, or the name of one that this service has not. The match is exhaustive, so a new node of
/// the grammar needs a meaning to build.
fn node(kind: &OperatorKind) -> Result<&dyn TabularOperator, &str> {
    Ok(match kind {
        OperatorKind::As(node) => node,
        OperatorKind::AssertSchema(node) => node,
        OperatorKind::Consume(node) => node,
        OperatorKind::Count(node) => node,
        OperatorKind::Distinct(node) => node,
        OperatorKind::Evaluate(node) => node,
        OperatorKind::Extend(node) => node,
        OperatorKind::Facet(node) => node,
        OperatorKind::Find(node) => node,
        OperatorKind::Fork(node) => node,
        OperatorKind::GetSchema(node) => node,
        OperatorKind::Invoke(node) => node,
        OperatorKind::Join(node) => node,
        OperatorKind::Lookup(node) => node,
        OperatorKind::MacroExpand(node) => node,
        OperatorKind::MakeSeries(node) => node,
        OperatorKind::MvApply(node) => node,
        OperatorKind::MvExpand(node) => node,
        OperatorKind::Parse(node) => node,
        OperatorKind::ParseKv(node) => node,
        OperatorKind::Partition(node) => node,
        OperatorKind::Print(node) => node,
        OperatorKind::Project(node) => node,
        OperatorKind::ProjectAway(node) => node,
        OperatorKind::ProjectByNames(node) => node,
        OperatorKind::ProjectKeep(node) => node,
        OperatorKind::ProjectRename(node) => node,
        OperatorKind::ProjectReorder(node) => node,
        OperatorKind::Range(node) => node,
        OperatorKind::Reduce(node) => node,
        OperatorKind::Render(node) => node,
        OperatorKind::Sample(node) => node,
        OperatorKind::SampleDistinct(node) => node,
        OperatorKind::Scan(node) => node,
        OperatorKind::Search(node) => node,
        OperatorKind::Serialize(node) => node,
        OperatorKind::Sort(node) => node,
        OperatorKind::Summarize(node) => node,
        OperatorKind::Take(node) => node,
        OperatorKind::Top(node) => node,
        OperatorKind::TopHitters(node) => node,
        OperatorKind::TopNested(node) => node,
        OperatorKind::Union(node) => node,
        OperatorKind::Where(node) => node,
        OperatorKind::Unsupported { name, .. } => return Err(name),
    })
}
