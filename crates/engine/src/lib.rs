//! One typed request in, one typed result out; no HTTP.
//!
//! Metric and events requests become KQL syntax trees, so there is one binder, one optimiser and one executor.

mod error;
mod request;
mod result;

pub use error::EngineError;
pub use hindsight_kql_syntax::{Diagnostic, Span};
pub use request::*;
pub use result::*;
