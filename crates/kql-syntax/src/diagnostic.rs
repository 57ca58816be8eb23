//! Errors in queries as data: code, message, span.

use crate::{Code, Span};

/// One error found in a query by the lexer, the parser or the binder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code.
    pub code: Code,
    /// A sentence that says what is wrong and, where it is known, what is accepted.
    pub message: String,
    /// The span of the text that is wrong.
    pub span: Span,
}

impl Diagnostic {
    /// A diagnostic with this code, message and span.
    pub fn new(code: Code, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic {
            code,
            message: message.into(),
            span,
        }
    }

    /// Whether the error is a syntax error.
    pub fn is_syntax(&self) -> bool {
        self.code.is_syntax()
    }

    /// The line (from 1), the column (from 0, in characters) and the text of the span, as the query API reports them.
    pub fn position<'a>(&self, text: &'a str) -> (usize, usize, &'a str) {
        self.span.position(text)
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Diagnostic {}
