//! What the parser makes of a text.

use crate::Diagnostic;
use crate::ast;

/// What the parser made of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The tree. With diagnostics it lacks what could not be read, and must not be run.
    pub query: ast::Query,
    /// Every error, in the order of the text. Empty for a valid query.
    pub diagnostics: Vec<Diagnostic>,
}
