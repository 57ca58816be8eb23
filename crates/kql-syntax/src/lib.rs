//! The syntax of KQL: lexer, parser, syntax tree, printer and diagnostics. Depends on neither Arrow nor the query engine.

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

/// Parses a query with the default [`Limits`].
///
/// Errors have the codes of the cloud's engine: `SYN0002` for a syntax error, `SYN0100` for a management command.
pub fn parse(text: &str) -> Parsed {
    parse_with_limits(text, &Limits::default())
}

/// Parses a scalar expression that is not part of a query, with the default [`Limits`].
///
/// # Errors
/// Every error, in the order of the text; at least one.
pub fn parse_expression(text: &str) -> Result<ast::Expr, Vec<Diagnostic>> {
    parser::parse_expression(text, &Limits::default())
}

/// Parses a query with these limits. A query that exceeds a limit gets exactly one diagnostic, which names the limit.
pub fn parse_with_limits(text: &str, limits: &Limits) -> Parsed {
    parser::parse(text, limits)
}
