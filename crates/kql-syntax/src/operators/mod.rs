//! The tabular operators: each file holds one operator's node, its grammar and its text form.

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
mod invoke;
mod join;
mod lookup;
mod macro_expand;
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
pub use invoke::*;
pub use join::*;
pub use lookup::*;
pub use macro_expand::*;
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

use crate::Span;

/// A tabular operator with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// Which one.
    pub kind: OperatorKind,
    /// Where, from its keyword to its end.
    pub span: Span,
}

/// The tabular operators (`semantics.md §15–§25`).
#[derive(Debug, Clone, PartialEq)]
#[allow(
    missing_docs,
    reason = "each variant holds the node that its own file describes"
)]
pub enum OperatorKind {
    As(AsOperator),
    AssertSchema(AssertSchemaOperator),
    Consume(ConsumeOperator),
    Count(CountOperator),
    Distinct(DistinctOperator),
    Evaluate(EvaluateOperator),
    Extend(ExtendOperator),
    Facet(FacetOperator),
    Find(FindOperator),
    Fork(ForkOperator),
    GetSchema(GetSchemaOperator),
    Invoke(InvokeOperator),
    Join(JoinOperator),
    Lookup(LookupOperator),
    MacroExpand(MacroExpandOperator),
    MakeSeries(MakeSeriesOperator),
    MvApply(MvApplyOperator),
    MvExpand(MvExpandOperator),
    Parse(ParseOperator),
    ParseKv(ParseKvOperator),
    Partition(PartitionOperator),
    Print(PrintOperator),
    Project(ProjectOperator),
    ProjectAway(ProjectAwayOperator),
    ProjectByNames(ProjectByNamesOperator),
    ProjectKeep(ProjectKeepOperator),
    ProjectRename(ProjectRenameOperator),
    ProjectReorder(ProjectReorderOperator),
    Range(RangeOperator),
    Reduce(ReduceOperator),
    Render(RenderOperator),
    Sample(SampleOperator),
    SampleDistinct(SampleDistinctOperator),
    Scan(ScanOperator),
    Search(SearchOperator),
    Serialize(SerializeOperator),
    Sort(SortOperator),
    Summarize(SummarizeOperator),
    Take(TakeOperator),
    Top(TopOperator),
    TopHitters(TopHittersOperator),
    TopNested(TopNestedOperator),
    Union(UnionOperator),
    Where(WhereOperator),
    /// An operator that the language has and this parser reads only so far as to refuse it by name (graph operators).
    Unsupported {
        name: String,
        text: String,
    },
}

impl OperatorKind {
    /// The operator's keyword.
    pub fn keyword(&self) -> &str {
        match self {
            OperatorKind::As(_) => "as",
            OperatorKind::AssertSchema(_) => "assert-schema",
            OperatorKind::Consume(_) => "consume",
            OperatorKind::Count(_) => "count",
            OperatorKind::Distinct(_) => "distinct",
            OperatorKind::Evaluate(_) => "evaluate",
            OperatorKind::Extend(_) => "extend",
            OperatorKind::Facet(_) => "facet",
            OperatorKind::Find(_) => "find",
            OperatorKind::Fork(_) => "fork",
            OperatorKind::GetSchema(_) => "getschema",
            OperatorKind::Invoke(_) => "invoke",
            OperatorKind::Join(_) => "join",
            OperatorKind::Lookup(_) => "lookup",
            OperatorKind::MacroExpand(_) => "macro-expand",
            OperatorKind::MakeSeries(_) => "make-series",
            OperatorKind::MvApply(_) => "mv-apply",
            OperatorKind::MvExpand(_) => "mv-expand",
            OperatorKind::Parse(node) if node.filtering => "parse-where",
            OperatorKind::Parse(_) => "parse",
            OperatorKind::ParseKv(_) => "parse-kv",
            OperatorKind::Partition(_) => "partition",
            OperatorKind::Print(_) => "print",
            OperatorKind::Project(_) => "project",
            OperatorKind::ProjectAway(_) => "project-away",
            OperatorKind::ProjectByNames(_) => "project-by-names",
            OperatorKind::ProjectKeep(_) => "project-keep",
            OperatorKind::ProjectRename(_) => "project-rename",
            OperatorKind::ProjectReorder(_) => "project-reorder",
            OperatorKind::Range(_) => "range",
            OperatorKind::Reduce(_) => "reduce",
            OperatorKind::Render(_) => "render",
            OperatorKind::Sample(_) => "sample",
            OperatorKind::SampleDistinct(_) => "sample-distinct",
            OperatorKind::Scan(_) => "scan",
            OperatorKind::Search(_) => "search",
            OperatorKind::Serialize(_) => "serialize",
            OperatorKind::Sort(_) => "sort",
            OperatorKind::Summarize(_) => "summarize",
            OperatorKind::Take(_) => "take",
            OperatorKind::Top(_) => "top",
            OperatorKind::TopHitters(_) => "top-hitters",
            OperatorKind::TopNested(_) => "top-nested",
            OperatorKind::Union(_) => "union",
            OperatorKind::Where(_) => "where",
            OperatorKind::Unsupported { name, .. } => name,
        }
    }
}
