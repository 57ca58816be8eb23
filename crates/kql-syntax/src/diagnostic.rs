//! What can be wrong with a query, as data: a code, a message, a place.

use crate::{Code, Span};

/// One error found in a query by the lexer, the parser or the binder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, by its code.
    pub code: Code,
    /// A sentence that says what is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
}

impl Diagnostic {
    /// A diagnostic with this code, message and place.
    pub fn new(code: Code, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic {
            code,
            message: message.into(),
            span,
        }
    }

    /// Whether the error is one of syntax.
    pub fn is_syntax(&self) -> bool {
        self.code.is_syntax()
    }

    /// Line (from 1), column (from 0, in characters) and token of the place in `text`, as the query API reports them.
    pub fn position<'a>(&self, text: &'a str) -> (usize, usize, &'a str) {
        let start = (self.span.start as usize).min(text.len());
        let end = (self.span.end as usize).clamp(start, text.len());
        let before = text.get(..start).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let line = before.matches('\n').count() + 1;
        (
            line,
            before[line_start..].chars().count(),
            text.get(start..end).unwrap_or(""),
        )
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Diagnostic {}
