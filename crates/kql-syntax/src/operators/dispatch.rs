//! The keywords of operators.

use super::{OPERATORS, OperatorKind, ParseFn, ParseOperator};
use crate::parser::Parser;

/// `parse-where`: a `parse` that drops rows without a match.
const PARSE_WHERE: (&str, ParseFn) = ("parse-where", |p| {
    ParseOperator::parse_where(p).map(OperatorKind::Parse)
});

/// Synonyms of keywords.
const SYNONYMS: &[(&str, &str)] = &[
    ("filter", "where"),
    ("limit", "take"),
    ("mvapply", "mv-apply"),
    ("mvexpand", "mv-expand"),
    ("order", "sort"),
];

fn parsers() -> impl Iterator<Item = &'static (&'static str, ParseFn)> {
    OPERATORS.iter().chain([&PARSE_WHERE])
}

impl OperatorKind {
    /// The keyword of every operator that is parsed.
    pub fn keywords() -> impl Iterator<Item = &'static str> {
        parsers().map(|(keyword, _)| *keyword)
    }

    /// Every spelling of a keyword: the keywords of the operators that are parsed, and their synonyms.
    pub(crate) fn spellings() -> impl Iterator<Item = &'static str> {
        OperatorKind::keywords().chain(SYNONYMS.iter().map(|(synonym, _)| *synonym))
    }

    /// The keyword with this spelling; a synonym gives its keyword.
    pub(crate) fn find_keyword(text: &str) -> Option<&'static str> {
        let synonym = SYNONYMS.iter().find(|(other, _)| *other == text);
        let text = synonym.map_or(text, |(_, keyword)| keyword);
        OperatorKind::keywords().find(|keyword| *keyword == text)
    }

    /// Parses the operator after its keyword.
    pub(crate) fn parse(keyword: &str, p: &mut Parser<'_>) -> Option<OperatorKind> {
        let (_, parse) = parsers().find(|(known, _)| *known == keyword)?;
        parse(p)
    }
}
