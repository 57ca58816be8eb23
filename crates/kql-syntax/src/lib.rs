//! KQL text to tokens to syntax tree and back. Knows neither Arrow nor the query engine.

pub mod ast;
mod code;
mod diagnostic;
mod lexer;
mod limits;
pub mod literal;
pub mod operators;
mod parsed;
mod parser;
pub mod reference;
mod span;
pub mod suggest;
mod token;

pub use code::Code;
pub use diagnostic::Diagnostic;
pub use limits::Limits;
pub use parsed::Parsed;
pub use span::Span;

/// Reads a query within the default [`Limits`].
///
/// Errors carry the engine's codes: `SYN0002` for text that is no query, `SYN0100` for a management command.
pub fn parse(text: &str) -> Parsed {
    parse_with_limits(text, &Limits::default())
}

/// Reads a query within these limits. A query beyond one of them gets exactly one diagnostic, which names the limit.
pub fn parse_with_limits(text: &str, limits: &Limits) -> Parsed {
    parser::parse(text, limits)
}
