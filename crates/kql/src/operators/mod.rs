//! The tabular operators: one file or folder each, with the node's name.
//!
//! Filters, projections, limits, sorts, aggregations, joins and unions are DataFusion's own nodes, so that its optimiser
//! sees through them; the rest are the transforms of [`crate::transform`].

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
use hindsight_kql_syntax::ast::{Expr, Operator, OperatorKind};

use crate::context::{BindContext, Bound};
use crate::error::BindResult;

#[cfg(test)]
mod tests;

/// A tabular operator of the language: a node of the syntax with its meaning.
pub(crate) trait TabularOperator {
    /// What the binder has to know of the operator before it binds it.
    fn properties(&self) -> Properties<'_>;

    /// Binds the operator over `input`; an operator that starts a pipeline gets [`crate::Relation::unit`].
    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound>;
}

/// Properties of an operator. Each operator states each of them: there are no defaults.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Properties<'n> {
    /// What the operator does to the rows of a subtable.
    pub(crate) rows: RowEffect<'n>,
    /// What comes of an input without rows.
    pub(crate) of_no_rows: OfNoRows,
    /// The rows of the input may be read in more than one place: under a name, or beside other tables.
    pub(crate) rereads_rows: bool,
    /// Later operators may read the rows by a name.
    pub(crate) names_rows: bool,
    /// A subtable without rows may have some behind the operator.
    pub(crate) adds_rows: bool,
}

/// What an operator does to the rows of a subtable, and to placeholder rows among them ([`crate::subtables`]).
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowEffect<'n> {
    /// A subtable with rows has rows behind it.
    Keeps,
    /// It may drop all rows, and keeps placeholder rows.
    Drops,
    /// It keeps rows as [`RowEffect::Keeps`], and does not know of placeholder rows.
    KeepsAlone,
    /// It may drop all rows and cannot keep placeholder rows.
    Loses,
    /// [`RowEffect::Keeps`] where the count is positive.
    KeepsAtMost(&'n Expr),
    /// [`RowEffect::KeepsAlone`] where the count is positive.
    KeepsAloneAtMost(&'n Expr),
    /// [`RowEffect::Drops`] where the limit, if there is one, is positive.
    Expands {
        /// At most so many rows for each row.
        limit: Option<&'n Expr>,
    },
    /// [`RowEffect::Drops`] where all of a pipeline for each row keeps placeholder rows.
    Applies {
        /// The pipeline.
        operators: &'n [Operator],
        /// At most so many rows for each row.
        limit: Option<&'n Expr>,
    },
    /// [`RowEffect::Keeps`] where all rows of the left side stay, but none of the right side alone.
    Joins {
        /// The kind as it is written.
        kind: Option<&'n Expr>,
        /// The kind where none is written.
        default: &'static str,
    },
}

/// What comes of an input without rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfNoRows {
    /// No rows.
    NoRows,
    /// One row, for which placeholder rows do not count.
    OneRow,
    /// One row, for which placeholder rows would count.
    OneRowOfPlaceholders,
}

/// The properties of an operator of a pipeline. One that this service has not is refused when it is bound; until then it
/// may do anything.
pub(crate) fn properties(kind: &OperatorKind) -> Properties<'_> {
    match node(kind) {
        Ok(node) => node.properties(),
        Err(_) => Properties {
            rows: RowEffect::Loses,
            of_no_rows: OfNoRows::NoRows,
            rereads_rows: true,
            names_rows: false,
            adds_rows: false,
        },
    }
}

/// Whether a pipeline may read the rows that it begins with in more than one place.
pub(crate) fn rereads_rows(operators: &[Operator]) -> bool {
    let mut operators = operators.iter();
    operators.any(|operator| properties(&operator.kind).rereads_rows)
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
