//! Which keyword starts which operator.

use std::fmt::{self, Display, Formatter};

use crate::operators::*;
use crate::parser::Parser;

/// Reads an operator behind its keyword.
type Read = fn(&mut Parser<'_>) -> Option<OperatorKind>;

/// Every keyword of a tabular operator. A table and not a `match`, because one function
/// with all operators in it has a frame that deep nesting cannot afford.
const OPERATORS: &[(&str, Read)] = &[
    ("as", |p| AsOperator::parse(p).map(OperatorKind::As)),
    ("assert-schema", |p| {
        AssertSchemaOperator::parse(p).map(OperatorKind::AssertSchema)
    }),
    ("consume", |p| {
        ConsumeOperator::parse(p).map(OperatorKind::Consume)
    }),
    ("count", |p| {
        CountOperator::parse(p).map(OperatorKind::Count)
    }),
    ("distinct", |p| {
        DistinctOperator::parse(p).map(OperatorKind::Distinct)
    }),
    ("evaluate", |p| {
        EvaluateOperator::parse(p).map(OperatorKind::Evaluate)
    }),
    ("extend", |p| {
        ExtendOperator::parse(p).map(OperatorKind::Extend)
    }),
    ("project-rename", |p| {
        ProjectRenameOperator::parse(p).map(OperatorKind::ProjectRename)
    }),
    ("print", |p| {
        PrintOperator::parse(p).map(OperatorKind::Print)
    }),
    ("project", |p| {
        ProjectOperator::parse(p).map(OperatorKind::Project)
    }),
    ("project-away", |p| {
        ProjectAwayOperator::parse(p).map(OperatorKind::ProjectAway)
    }),
    ("project-keep", |p| {
        ProjectKeepOperator::parse(p).map(OperatorKind::ProjectKeep)
    }),
    ("facet", |p| {
        FacetOperator::parse(p).map(OperatorKind::Facet)
    }),
    ("find", |p| FindOperator::parse(p).map(OperatorKind::Find)),
    ("fork", |p| ForkOperator::parse(p).map(OperatorKind::Fork)),
    ("getschema", |p| {
        GetSchemaOperator::parse(p).map(OperatorKind::GetSchema)
    }),
    ("invoke", |p| {
        InvokeOperator::parse(p).map(OperatorKind::Invoke)
    }),
    ("join", |p| JoinOperator::parse(p).map(OperatorKind::Join)),
    ("lookup", |p| {
        LookupOperator::parse(p).map(OperatorKind::Lookup)
    }),
    ("macro-expand", |p| {
        MacroExpandOperator::parse(p).map(OperatorKind::MacroExpand)
    }),
    ("make-series", |p| {
        MakeSeriesOperator::parse(p).map(OperatorKind::MakeSeries)
    }),
    ("mv-apply", |p| {
        MvApplyOperator::parse(p).map(OperatorKind::MvApply)
    }),
    ("mv-expand", |p| {
        MvExpandOperator::parse(p).map(OperatorKind::MvExpand)
    }),
    ("parse", |p| {
        ParseOperator::parse(false, p).map(OperatorKind::Parse)
    }),
    ("parse-where", |p| {
        ParseOperator::parse(true, p).map(OperatorKind::Parse)
    }),
    ("parse-kv", |p| {
        ParseKvOperator::parse(p).map(OperatorKind::ParseKv)
    }),
    ("partition", |p| {
        PartitionOperator::parse(p).map(OperatorKind::Partition)
    }),
    ("project-by-names", |p| {
        ProjectByNamesOperator::parse(p).map(OperatorKind::ProjectByNames)
    }),
    ("project-reorder", |p| {
        ProjectReorderOperator::parse(p).map(OperatorKind::ProjectReorder)
    }),
    ("range", |p| {
        RangeOperator::parse(p).map(OperatorKind::Range)
    }),
    ("reduce", |p| {
        ReduceOperator::parse(p).map(OperatorKind::Reduce)
    }),
    ("render", |p| {
        RenderOperator::parse(p).map(OperatorKind::Render)
    }),
    ("sample", |p| {
        SampleOperator::parse(p).map(OperatorKind::Sample)
    }),
    ("sample-distinct", |p| {
        SampleDistinctOperator::parse(p).map(OperatorKind::SampleDistinct)
    }),
    ("scan", |p| ScanOperator::parse(p).map(OperatorKind::Scan)),
    ("search", |p| {
        SearchOperator::parse(p).map(OperatorKind::Search)
    }),
    ("serialize", |p| {
        SerializeOperator::parse(p).map(OperatorKind::Serialize)
    }),
    ("sort", |p| SortOperator::parse(p).map(OperatorKind::Sort)),
    ("summarize", |p| {
        SummarizeOperator::parse(p).map(OperatorKind::Summarize)
    }),
    ("take", |p| TakeOperator::parse(p).map(OperatorKind::Take)),
    ("top", |p| TopOperator::parse(p).map(OperatorKind::Top)),
    ("top-hitters", |p| {
        TopHittersOperator::parse(p).map(OperatorKind::TopHitters)
    }),
    ("top-nested", |p| {
        TopNestedOperator::parse(p).map(OperatorKind::TopNested)
    }),
    ("union", |p| {
        UnionOperator::parse(p).map(OperatorKind::Union)
    }),
    ("where", |p| {
        WhereOperator::parse(p).map(OperatorKind::Where)
    }),
];

/// Other spellings of keywords.
const SYNONYMS: &[(&str, &str)] = &[
    ("filter", "where"),
    ("limit", "take"),
    ("mvapply", "mv-apply"),
    ("mvexpand", "mv-expand"),
    ("order", "sort"),
];

/// Operators that are read only so far as to be refused by name.
const REFUSED: &[&str] = &[
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
    /// The keyword of every operator that is read.
    pub fn keywords() -> impl Iterator<Item = &'static str> {
        OPERATORS.iter().map(|(keyword, _)| *keyword)
    }

    /// The keyword that a text spells.
    pub(crate) fn find_keyword(text: &str) -> Option<&'static str> {
        let synonym = SYNONYMS.iter().find(|(other, _)| *other == text);
        let text = synonym.map_or(text, |(_, keyword)| keyword);
        OperatorKind::keywords()
            .chain(REFUSED.iter().copied())
            .find(|keyword| *keyword == text)
    }

    /// Reads the operator behind its keyword.
    pub(crate) fn parse(keyword: &str, p: &mut Parser<'_>) -> Option<OperatorKind> {
        match OPERATORS.iter().find(|(known, _)| *known == keyword) {
            Some((_, read)) => read(p),
            None => Some(OperatorKind::Unsupported {
                name: keyword.to_owned(),
                text: p.rest_of_operator()?,
            }),
        }
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
