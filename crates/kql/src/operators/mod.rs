//! The tabular operators, one file or folder each, named after the syntax node.
//!
//! Filters, projections, limits, sorts, aggregations, joins and unions are nodes of DataFusion, so that its optimiser applies
//! to them. The other operators are transforms of [`crate::transform`].

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
pub(crate) mod graph_mark_components;
pub(crate) mod graph_match;
pub(crate) mod graph_shortest_paths;
pub(crate) mod graph_to_table;
pub(crate) mod graph_where_edges;
pub(crate) mod graph_where_nodes;
pub(crate) mod invoke;
pub(crate) mod join;
pub(crate) mod kernels;
pub(crate) mod lookup;
pub(crate) mod macro_expand;
pub(crate) mod make_graph;
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

use hindsight_kql_syntax::ast::{Expr, Operator, OperatorKind};
use hindsight_kql_syntax::{Code, Span};

use crate::context::{BindContext, Bound};
use crate::error::BindResult;

#[cfg(test)]
mod tests;

/// A tabular operator of KQL: the semantics of a syntax node.
pub(crate) trait TabularOperator {
    /// The properties that the binder reads before it binds the operator.
    fn properties(&self) -> Properties<'_>;

    /// Binds the operator over `input`; the first operator of a pipeline gets [`crate::Relation::unit`].
    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound>;
}

/// Properties of an operator. Each operator states all of them; there are no defaults.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Properties<'n> {
    /// The input that the operator accepts.
    pub(crate) input: OperatorInput,
    /// The effect of the operator on the rows of a subtable.
    pub(crate) rows: RowEffect<'n>,
    /// The output for an empty input.
    pub(crate) on_empty_input: OnEmptyInput,
    /// The rows of the input may be read in several places: by a name, or by a `union` with other tables.
    pub(crate) rereads_rows: bool,
    /// Later operators can read the rows by a name.
    pub(crate) names_rows: bool,
    /// A subtable without rows may have rows after the operator.
    pub(crate) adds_rows: bool,
    /// The columns of the output are those of the input, and columns that the operator names. After an error in the operator, the
    /// following operators are bound over its input.
    pub(crate) keeps_columns: bool,
}

/// The input that an operator accepts; any other is refused before the operator is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorInput {
    /// Rows.
    Rows,
    /// A graph.
    Graph,
}

/// The effect of an operator on the rows of a subtable, and on its placeholder rows ([`crate::subtables`]).
#[derive(Debug, Clone, Copy)]
pub(crate) enum RowEffect<'n> {
    /// A subtable that has rows still has rows after the operator.
    Keeps,
    /// The operator may drop all rows, but keeps placeholder rows.
    Drops,
    /// As [`RowEffect::Keeps`], but the operator does not support placeholder rows.
    KeepsAlone,
    /// The operator may drop all rows and cannot keep placeholder rows.
    Loses,
    /// [`RowEffect::Keeps`] if the count is positive.
    KeepsAtMost(&'n Expr),
    /// [`RowEffect::KeepsAlone`] if the count is positive.
    KeepsAloneAtMost(&'n Expr),
    /// [`RowEffect::Drops`] if the limit, if there is one, is positive.
    Expands {
        /// The maximum number of output rows for each row.
        limit: Option<&'n Expr>,
    },
    /// [`RowEffect::Drops`] if every operator of the pipeline for each row keeps placeholder rows.
    Applies {
        /// The pipeline.
        operators: &'n [Operator],
        /// The maximum number of output rows for each row.
        limit: Option<&'n Expr>,
    },
    /// [`RowEffect::Keeps`] if the join keeps all rows of the left side, and outputs no unmatched row of the right side.
    Joins {
        /// The explicit kind.
        kind: Option<&'n Expr>,
        /// The kind without an explicit one.
        default: &'static str,
    },
}

/// The output for an empty input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnEmptyInput {
    /// No rows.
    NoRows,
    /// One row; placeholder rows are not counted.
    OneRow,
    /// One row; placeholder rows would be counted.
    OneRowOfPlaceholders,
}

/// The properties of an operator of a pipeline.
pub(crate) fn properties(kind: &OperatorKind) -> Properties<'_> {
    node(kind).properties()
}

/// Whether a pipeline may read its input rows in several places.
pub(crate) fn rereads_rows(operators: &[Operator]) -> bool {
    let mut operators = operators.iter();
    operators.any(|operator| properties(&operator.kind).rereads_rows)
}

/// Binds one operator over `input`.
///
/// # Errors
/// SEM0104 if the operator takes a graph and the input is rows, or the reverse (`docs/semantics.md §25`).
pub(crate) fn bind(
    operator: &Operator,
    input: Bound,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    let node = node(&operator.kind);
    let message = match (node.properties().input, &input.graph) {
        (OperatorInput::Rows, Some(_)) => {
            "the operator takes rows and its input is a graph: 'graph-to-table' makes rows of it"
        }
        (OperatorInput::Graph, None) => {
            "the operator takes a graph and its input is rows: 'make-graph' makes a graph of them"
        }
        _ => return node.bind(input, binder, operator.span),
    };
    Err(binder.error(Code::GraphMismatch, message, operator.span))
}

/// The implementation of a syntax node. The match is exhaustive, so a new node of the grammar does not compile without an
/// implementation.
fn node(kind: &OperatorKind) -> &dyn TabularOperator {
    match kind {
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
        OperatorKind::GraphMarkComponents(node) => node,
        OperatorKind::GraphMatch(node) => node,
        OperatorKind::GraphShortestPaths(node) => node,
        OperatorKind::GraphToTable(node) => node,
        OperatorKind::GraphWhereEdges(node) => node,
        OperatorKind::GraphWhereNodes(node) => node,
        OperatorKind::Invoke(node) => node,
        OperatorKind::Join(node) => node,
        OperatorKind::Lookup(node) => node,
        OperatorKind::MacroExpand(node) => node,
        OperatorKind::MakeGraph(node) => node,
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
    }
}
