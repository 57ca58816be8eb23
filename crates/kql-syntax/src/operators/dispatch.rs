//! Which keyword starts which operator.

use std::fmt::{self, Display, Formatter};

use crate::operators::*;
use crate::parser::Parser;

/// Every keyword of a tabular operator, older spellings included.
const KEYWORDS: &[&str] = &[
    "as",
    "assert-schema",
    "consume",
    "count",
    "distinct",
    "evaluate",
    "extend",
    "project-rename",
    "print",
    "project",
    "project-away",
    "project-keep",
    "facet",
    "find",
    "fork",
    "getschema",
    "invoke",
    "join",
    "lookup",
    "macro-expand",
    "make-series",
    "mv-apply",
    "mvapply",
    "mv-expand",
    "mvexpand",
    "parse",
    "parse-where",
    "parse-kv",
    "partition",
    "project-by-names",
    "project-reorder",
    "range",
    "reduce",
    "render",
    "sample",
    "sample-distinct",
    "scan",
    "search",
    "serialize",
    "sort",
    "order",
    "summarize",
    "take",
    "limit",
    "top",
    "top-hitters",
    "top-nested",
    "union",
    "where",
    "filter",
    "make-graph",
    "graph-match",
    "graph-shortest-paths",
    "graph-to-table",
    "graph-mark-components",
    "graph-where-nodes",
    "graph-where-edges",
    "graph-merge",
];

impl OperatorKind {
    /// The keyword that a text spells.
    pub(crate) fn find_keyword(text: &str) -> Option<&'static str> {
        KEYWORDS.iter().find(|keyword| **keyword == text).copied()
    }

    /// Reads the operator behind its keyword.
    pub(crate) fn parse(keyword: &str, p: &mut Parser<'_>) -> Option<OperatorKind> {
        Some(match keyword {
            "as" => OperatorKind::As(AsOperator::parse(p)?),
            "assert-schema" => OperatorKind::AssertSchema(AssertSchemaOperator::parse(p)?),
            "consume" => OperatorKind::Consume(ConsumeOperator::parse(p)?),
            "count" => OperatorKind::Count(CountOperator::parse(p)?),
            "distinct" => OperatorKind::Distinct(DistinctOperator::parse(p)?),
            "evaluate" => OperatorKind::Evaluate(EvaluateOperator::parse(p)?),
            "extend" => OperatorKind::Extend(ExtendOperator::parse(p)?),
            "project-rename" => OperatorKind::ProjectRename(ProjectRenameOperator::parse(p)?),
            "print" => OperatorKind::Print(PrintOperator::parse(p)?),
            "project" => OperatorKind::Project(ProjectOperator::parse(p)?),
            "project-away" => OperatorKind::ProjectAway(ProjectAwayOperator::parse(p)?),
            "project-keep" => OperatorKind::ProjectKeep(ProjectKeepOperator::parse(p)?),
            "facet" => OperatorKind::Facet(FacetOperator::parse(p)?),
            "find" => OperatorKind::Find(FindOperator::parse(p)?),
            "fork" => OperatorKind::Fork(ForkOperator::parse(p)?),
            "getschema" => OperatorKind::GetSchema(GetSchemaOperator::parse(p)?),
            "invoke" => OperatorKind::Invoke(InvokeOperator::parse(p)?),
            "join" => OperatorKind::Join(JoinOperator::parse(p)?),
            "lookup" => OperatorKind::Lookup(LookupOperator::parse(p)?),
            "macro-expand" => OperatorKind::MacroExpand(MacroExpandOperator::parse(p)?),
            "make-series" => OperatorKind::MakeSeries(MakeSeriesOperator::parse(p)?),
            "mv-apply" | "mvapply" => OperatorKind::MvApply(MvApplyOperator::parse(p)?),
            "mv-expand" | "mvexpand" => OperatorKind::MvExpand(MvExpandOperator::parse(p)?),
            "parse" => OperatorKind::Parse(ParseOperator::parse(false, p)?),
            "parse-where" => OperatorKind::Parse(ParseOperator::parse(true, p)?),
            "parse-kv" => OperatorKind::ParseKv(ParseKvOperator::parse(p)?),
            "partition" => OperatorKind::Partition(PartitionOperator::parse(p)?),
            "project-by-names" => OperatorKind::ProjectByNames(ProjectByNamesOperator::parse(p)?),
            "project-reorder" => OperatorKind::ProjectReorder(ProjectReorderOperator::parse(p)?),
            "range" => OperatorKind::Range(RangeOperator::parse(p)?),
            "reduce" => OperatorKind::Reduce(ReduceOperator::parse(p)?),
            "render" => OperatorKind::Render(RenderOperator::parse(p)?),
            "sample" => OperatorKind::Sample(SampleOperator::parse(p)?),
            "sample-distinct" => OperatorKind::SampleDistinct(SampleDistinctOperator::parse(p)?),
            "scan" => OperatorKind::Scan(ScanOperator::parse(p)?),
            "search" => OperatorKind::Search(SearchOperator::parse(p)?),
            "serialize" => OperatorKind::Serialize(SerializeOperator::parse(p)?),
            "sort" | "order" => OperatorKind::Sort(SortOperator::parse(p)?),
            "summarize" => OperatorKind::Summarize(SummarizeOperator::parse(p)?),
            "take" | "limit" => OperatorKind::Take(TakeOperator::parse(p)?),
            "top" => OperatorKind::Top(TopOperator::parse(p)?),
            "top-hitters" => OperatorKind::TopHitters(TopHittersOperator::parse(p)?),
            "top-nested" => OperatorKind::TopNested(TopNestedOperator::parse(p)?),
            "union" => OperatorKind::Union(UnionOperator::parse(p)?),
            "where" | "filter" => OperatorKind::Where(WhereOperator::parse(p)?),
            _ => OperatorKind::Unsupported {
                name: keyword.to_owned(),
                text: p.rest_of_operator(),
            },
        })
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl Display for OperatorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            OperatorKind::As(node) => node.fmt(f),
            OperatorKind::AssertSchema(node) => node.fmt(f),
            OperatorKind::Consume(node) => node.fmt(f),
            OperatorKind::Count(node) => node.fmt(f),
            OperatorKind::Distinct(node) => node.fmt(f),
            OperatorKind::Evaluate(node) => node.fmt(f),
            OperatorKind::Extend(node) => node.fmt(f),
            OperatorKind::ProjectRename(node) => node.fmt(f),
            OperatorKind::Print(node) => node.fmt(f),
            OperatorKind::Project(node) => node.fmt(f),
            OperatorKind::ProjectAway(node) => node.fmt(f),
            OperatorKind::ProjectKeep(node) => node.fmt(f),
            OperatorKind::Facet(node) => node.fmt(f),
            OperatorKind::Find(node) => node.fmt(f),
            OperatorKind::Fork(node) => node.fmt(f),
            OperatorKind::GetSchema(node) => node.fmt(f),
            OperatorKind::Invoke(node) => node.fmt(f),
            OperatorKind::Join(node) => node.fmt(f),
            OperatorKind::Lookup(node) => node.fmt(f),
            OperatorKind::MacroExpand(node) => node.fmt(f),
            OperatorKind::MakeSeries(node) => node.fmt(f),
            OperatorKind::MvApply(node) => node.fmt(f),
            OperatorKind::MvExpand(node) => node.fmt(f),
            OperatorKind::Parse(node) => node.fmt(f),
            OperatorKind::ParseKv(node) => node.fmt(f),
            OperatorKind::Partition(node) => node.fmt(f),
            OperatorKind::ProjectByNames(node) => node.fmt(f),
            OperatorKind::ProjectReorder(node) => node.fmt(f),
            OperatorKind::Range(node) => node.fmt(f),
            OperatorKind::Reduce(node) => node.fmt(f),
            OperatorKind::Render(node) => node.fmt(f),
            OperatorKind::Sample(node) => node.fmt(f),
            OperatorKind::SampleDistinct(node) => node.fmt(f),
            OperatorKind::Scan(node) => node.fmt(f),
            OperatorKind::Search(node) => node.fmt(f),
            OperatorKind::Serialize(node) => node.fmt(f),
            OperatorKind::Sort(node) => node.fmt(f),
            OperatorKind::Summarize(node) => node.fmt(f),
            OperatorKind::Take(node) => node.fmt(f),
            OperatorKind::Top(node) => node.fmt(f),
            OperatorKind::TopHitters(node) => node.fmt(f),
            OperatorKind::TopNested(node) => node.fmt(f),
            OperatorKind::Union(node) => node.fmt(f),
            OperatorKind::Where(node) => node.fmt(f),
            OperatorKind::Unsupported { name, text } if text.is_empty() => f.write_str(name),
            OperatorKind::Unsupported { name, text } => write!(f, "{name} {text}"),
        }
    }
}
