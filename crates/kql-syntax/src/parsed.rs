//! The result of the parser.

use crate::Diagnostic;
use crate::ast;

/// The result of parsing a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The tree. If there are diagnostics, the tree is incomplete and must not be executed.
    pub query: ast::Query,
    /// Every error, in the order of the text. Empty for a valid query.
    pub diagnostics: Vec<Diagnostic>,
}
