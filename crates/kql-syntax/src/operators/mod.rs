//! The tabular operators. Each file has the node, the grammar and the text form of one operator.

mod as_;
mod assert_schema;
mod consume;
mod count;
mod dispatch;
mod distinct;
mod evaluate;
mod extend;
mod facet;
mod find;
mod fork;
mod getschema;
mod graph_mark_components;
mod graph_match;
mod graph_pattern;
mod graph_shortest_paths;
mod graph_to_table;
mod graph_where_edges;
mod graph_where_nodes;
mod invoke;
mod join;
mod lookup;
mod macro_expand;
mod make_graph;
mod make_series;
mod mv_apply;
mod mv_expand;
mod parse;
mod parse_kv;
mod partition;
mod print;
mod project;
mod project_away;
mod project_by_names;
mod project_keep;
mod project_rename;
mod project_reorder;
mod range;
mod reduce;
mod render;
mod sample;
mod sample_distinct;
mod scan;
mod search;
mod serialize;
mod sort;
mod summarize;
mod take;
mod top;
mod top_hitters;
mod top_nested;
mod union;
mod where_;

pub use as_::*;
pub use assert_schema::*;
pub use consume::*;
pub use count::*;
pub use distinct::*;
pub use evaluate::*;
pub use extend::*;
pub use facet::*;
pub use find::*;
pub use fork::*;
pub use getschema::*;
pub use graph_mark_components::*;
pub use graph_match::*;
pub use graph_pattern::{EdgeDirection, EdgeRange, GraphPattern, PatternEdge, PatternNode};
pub use graph_shortest_paths::*;
pub use graph_to_table::*;
pub use graph_where_edges::*;
pub use graph_where_nodes::*;
pub use invoke::*;
pub use join::*;
pub use lookup::*;
pub use macro_expand::*;
pub use make_graph::*;
pub use make_series::*;
pub use mv_apply::*;
pub use mv_expand::*;
pub use parse::*;
pub use parse_kv::*;
pub use partition::*;
pub use print::*;
pub use project::*;
pub use project_away::*;
pub use project_by_names::*;
pub use project_keep::*;
pub use project_rename::*;
pub use project_reorder::*;
pub use range::*;
pub use reduce::*;
pub use render::*;
pub use sample::*;
pub use sample_distinct::*;
pub use scan::*;
pub use search::*;
pub use serialize::*;
pub use sort::*;
pub use summarize::*;
pub use take::*;
pub use top::*;
pub use top_hitters::*;
pub use top_nested::*;
pub use union::*;
pub use where_::*;

use std::fmt::{self, Display, Formatter};

use crate::Span;
use crate::parser::Parser;

/// A tabular operator with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// The operator.
    pub kind: OperatorKind,
    /// From its keyword to its end.
    pub span: Span,
}

/// Parses an operator after its keyword.
type ParseFn = fn(&mut Parser<'_>) -> Option<OperatorKind>;

/// Generates the enum, the keywords and the text form of the operators from one list.
macro_rules! operators {
    ($($kind:ident($node:ident): $keyword:literal,)*) => {
        /// The tabular operators (`docs/semantics.md §15–§25`).
        #[derive(Debug, Clone, PartialEq)]
        #[allow(
            missing_docs,
            reason = "each variant holds the node that its own file describes"
        )]
        pub enum OperatorKind {
            $($kind($node),)*
        }

        /// The parser of every operator by keyword. This is a table because a `match` over all operators would be one function
        /// with a stack frame too large for deep nesting.
        const OPERATORS: &[(&str, ParseFn)] = &[
            $(($keyword, |p| $node::parse(p).map(OperatorKind::$kind)),)*
        ];

        impl OperatorKind {
            /// The operator's keyword.
            pub fn keyword(&self) -> &'static str {
                match self {
                    OperatorKind::Parse(node) if node.filtering => "parse-where",
                    $(OperatorKind::$kind(_) => $keyword,)*
                }
            }
        }

        impl Display for OperatorKind {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self {
                    $(OperatorKind::$kind(node) => node.fmt(f),)*
                }
            }
        }
    };
}

operators! {
    As(AsOperator): "as",
    AssertSchema(AssertSchemaOperator): "assert-schema",
    Consume(ConsumeOperator): "consume",
    Count(CountOperator): "count",
    Distinct(DistinctOperator): "distinct",
    Evaluate(EvaluateOperator): "evaluate",
    Extend(ExtendOperator): "extend",
    Facet(FacetOperator): "facet",
    Find(FindOperator): "find",
    Fork(ForkOperator): "fork",
    GetSchema(GetSchemaOperator): "getschema",
    GraphMarkComponents(GraphMarkComponentsOperator): "graph-mark-components",
    GraphMatch(GraphMatchOperator): "graph-match",
    GraphShortestPaths(GraphShortestPathsOperator): "graph-shortest-paths",
    GraphToTable(GraphToTableOperator): "graph-to-table",
    GraphWhereEdges(GraphWhereEdgesOperator): "graph-where-edges",
    GraphWhereNodes(GraphWhereNodesOperator): "graph-where-nodes",
    Invoke(InvokeOperator): "invoke",
    Join(JoinOperator): "join",
    Lookup(LookupOperator): "lookup",
    MacroExpand(MacroExpandOperator): "macro-expand",
    MakeGraph(MakeGraphOperator): "make-graph",
    MakeSeries(MakeSeriesOperator): "make-series",
    MvApply(MvApplyOperator): "mv-apply",
    MvExpand(MvExpandOperator): "mv-expand",
    Parse(ParseOperator): "parse",
    ParseKv(ParseKvOperator): "parse-kv",
    Partition(PartitionOperator): "partition",
    Print(PrintOperator): "print",
    Project(ProjectOperator): "project",
    ProjectAway(ProjectAwayOperator): "project-away",
    ProjectByNames(ProjectByNamesOperator): "project-by-names",
    ProjectKeep(ProjectKeepOperator): "project-keep",
    ProjectRename(ProjectRenameOperator): "project-rename",
    ProjectReorder(ProjectReorderOperator): "project-reorder",
    Range(RangeOperator): "range",
    Reduce(ReduceOperator): "reduce",
    Render(RenderOperator): "render",
    Sample(SampleOperator): "sample",
    SampleDistinct(SampleDistinctOperator): "sample-distinct",
    Scan(ScanOperator): "scan",
    Search(SearchOperator): "search",
    Serialize(SerializeOperator): "serialize",
    Sort(SortOperator): "sort",
    Summarize(SummarizeOperator): "summarize",
    Take(TakeOperator): "take",
    Top(TopOperator): "top",
    TopHitters(TopHittersOperator): "top-hitters",
    TopNested(TopNestedOperator): "top-nested",
    Union(UnionOperator): "union",
    Where(WhereOperator): "where",
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}
