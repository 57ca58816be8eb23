//! Which keyword starts which operator.

use super::{OPERATORS, OperatorKind, ParseOperator, Read};
use crate::parser::Parser;

/// `parse-where` is `parse` with a flag.
const PARSE_WHERE: (&str, Read) = ("parse-where", |p| {
    ParseOperator::parse_where(p).map(OperatorKind::Parse)
});

/// Other spellings of keywords.
const SYNONYMS: &[(&str, &str)] = &[
    ("filter", "where"),
    ("limit", "take"),
    ("mvapply", "mv-apply"),
    ("mvexpand", "mv-expand"),
    ("order", "sort"),
];

fn readers() -> impl Iterator<Item = &'static (&'static str, Read)> {
    OPERATORS.iter().chain([&PARSE_WHERE])
}

impl OperatorKind {
    /// The keyword of every operator that is read.
    pub fn keywords() -> impl Iterator<Item = &'static str> {
        readers().map(|(keyword, _)| *keyword)
    }

    /// The keyword that a text spells.
    pub(crate) fn find_keyword(text: &str) -> Option<&'static str> {
        let synonym = SYNONYMS.iter().find(|(other, _)| *other == text);
        let text = synonym.map_or(text, |(_, keyword)| keyword);
        OperatorKind::keywords().find(|keyword| *keyword == text)
    }

    /// Reads the operator behind its keyword.
    pub(crate) fn parse(keyword: &str, p: &mut Parser<'_>) -> Option<OperatorKind> {
        let (_, read) = readers().find(|(known, _)| *known == keyword)?;
        read(p)
    }
}
