//! `parse`.

use crate::ast::{Expr, Name, OperatorParameter};

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
        /// Its type; string where none is written.
        kind: Option<hindsight_kql_types::ScalarType>,
    },
}
