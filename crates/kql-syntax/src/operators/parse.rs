//! `parse`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, Name, OperatorParameter, Parameters};
use crate::parser::Parser;
use crate::token::TokenKind;

/// `parse [kind=…] [flags=…] expr with pattern`; also `parse-where`
#[derive(Debug, Clone, PartialEq)]
pub struct ParseOperator {
    /// `parse-where`: rows without a match are dropped.
    pub filtering: bool,
    /// `kind=…`, `flags=…`
    pub parameters: Vec<OperatorParameter>,
    /// The text.
    pub source: Expr,
    /// The pattern.
    pub pattern: Vec<ParsePart>,
}

/// A part of a parse pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsePart {
    /// `*`
    Star,
    /// `"text"`
    Literal(Expr),
    /// `name[:type]`
    Column {
        /// The column.
        name: Name,
        /// Its type; string if none is written.
        kind: Option<hindsight_kql_types::ScalarType>,
    },
}

impl ParseOperator {
    /// Parses the operator after its keyword; `filtering` for `parse-where`.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ParseOperator> {
        ParseOperator::read(false, p)
    }

    /// Parses `parse-where` after its keyword.
    pub(crate) fn parse_where(p: &mut Parser<'_>) -> Option<ParseOperator> {
        ParseOperator::read(true, p)
    }

    fn read(filtering: bool, p: &mut Parser<'_>) -> Option<ParseOperator> {
        let parameters = p.parameters(&["kind", "flags"])?;
        let source = p.expr()?;
        p.expect_word("with")?;
        let mut pattern = Vec::new();
        while pattern.is_empty() || !p.at_end_of_operator() {
            pattern.push(parse_part(p)?);
        }
        Some(ParseOperator {
            filtering,
            parameters,
            source,
            pattern,
        })
    }
}

impl Display for ParseOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.filtering {
            "parse-where"
        } else {
            "parse"
        })?;
        write!(f, "{} {} with", Parameters(&self.parameters), self.source)?;
        self.pattern
            .iter()
            .try_for_each(|part| write!(f, " {part}"))
    }
}

/// Parses `*`, a literal or `name[:type]`.
fn parse_part(p: &mut Parser<'_>) -> Option<ParsePart> {
    if p.eat(TokenKind::Star) {
        return Some(ParsePart::Star);
    }
    if p.at(TokenKind::String) {
        return p.literal().flatten().map(ParsePart::Literal);
    }
    let name = p.defining_name()?;
    let kind = if p.eat(TokenKind::Colon) {
        Some(p.scalar_type()?)
    } else {
        None
    };
    Some(ParsePart::Column { name, kind })
}

impl Display for ParsePart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ParsePart::Star => f.write_str("*"),
            ParsePart::Literal(text) => write!(f, "{text}"),
            ParsePart::Column {
                name,
                kind: Some(kind),
            } => write!(f, "{name}:{}", kind.name()),
            ParsePart::Column { name, kind: None } => write!(f, "{name}"),
        }
    }
}
