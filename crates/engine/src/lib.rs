//! One typed request in, one typed result out; no HTTP.
//!
//! Metric and events requests become KQL syntax trees, so there is one binder, one optimiser and one executor.

mod catalog;
mod config;
mod deadline;
mod distributed;
mod engine;
mod error;
mod events;
mod exec;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod metrics;
mod odata;
#[cfg(test)]
mod plan_tests;
mod producer;
mod profile;
#[cfg(test)]
mod random_tests;
mod render;
mod request;
mod result;
mod scanned;
mod stream;
mod time;
mod usage;

pub use config::EngineConfig;
pub use distributed::{FragmentCall, FragmentReply, FragmentRequest, QueryNodes};
pub use engine::{FragmentRows, QueryEngine};
pub use error::EngineError;
pub use hindsight_kql::addresses::{AddressDatabase, AddressDatabaseError};
pub use hindsight_kql::reference::{
    Entry, RefusedNames, Section, language as language_reference,
    refused_names as refused_language, sections as language_sections, visualizations,
};
pub use hindsight_kql::{PrincipalKind, QueryPrincipal};
pub use hindsight_kql_syntax::{Code, Diagnostic, Span};
pub use request::*;
pub use result::*;
pub use stream::{Part, QueryStream};
