//! Diagnostics of calls with a wrong number of arguments (`docs/semantics.md §28.4`).

use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::frame::Frame;

/// The diagnostic of a call of `function`, which takes `min` to `max` arguments, or any number from `min` on.
pub(crate) fn argument_count(
    frame: &Frame,
    function: &str,
    min: usize,
    max: Option<usize>,
    span: Span,
) -> Diagnostic {
    let (code, number) = match max {
        Some(max) if max == min => (Code::ArgumentCount, min.to_string()),
        Some(max) => (Code::ArgumentRange, format!("[{min}..{max}]")),
        None => (Code::ArgumentRange, format!("at least {min}")),
    };
    let message = format!("{function}(): function expects {number} argument(s).");
    frame.error(code, message, span)
}
