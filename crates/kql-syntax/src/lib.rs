//! KQL text to tokens to syntax tree and back. Knows neither Arrow nor the query engine.

pub mod ast;
mod diagnostic;
pub mod operators;
mod span;

pub use diagnostic::Diagnostic;
pub use span::Span;
