//! OpenTelemetry payloads mapped to rows of telemetry, as the official exporters of Application Insights map them.
//!
//! A request in protobuf or JSON ([`decode`]) has resources, each with spans, log records or data points ([`outline`]). The caller
//! says which application takes each resource, and [`map`] adds the rows. The crate knows no HTTP, reads no clock and keeps no
//! state but the [`Series`] that it is handed.
//!
//! `names.rs` has the names of attributes by family; `span/request.rs`, `span/dependency.rs`, `span/event.rs`, `log.rs` and
//! `metric.rs` have the columns that they fill. [docs/otlp.md](../../../docs/otlp.md) describes the mapping.

mod attributes;
mod classic;
mod context;
mod dimensions;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod ids;
mod log;
mod metric;
mod names;
mod payload;
mod resource;
mod rules;
mod sampling;
mod series;
mod signal;
mod span;
mod time;
mod url;
mod value;
mod wire;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use context::{Browser, Context};
pub use error::{Malformed, Rejection};
pub use payload::{MapError, Report, ResourceOutline, Sink, map, outline};
pub use rules::{DimensionRules, ResourceDimensions};
pub use series::{Changes, Series, SeriesLimits, Staged};
pub use signal::Signal;

/// How a payload is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `application/x-protobuf`, and gRPC.
    Protobuf,
    /// `application/json`
    Json,
}

/// The payload in protobuf.
///
/// # Errors
/// [`Malformed::Json`] if the payload is not OTLP's JSON. Protobuf is not looked into.
pub fn decode(
    signal: Signal,
    encoding: Encoding,
    payload: &[u8],
) -> Result<Cow<'_, [u8]>, Malformed> {
    match encoding {
        Encoding::Protobuf => Ok(Cow::Borrowed(payload)),
        Encoding::Json => wire::json::to_protobuf(signal, payload).map(Cow::Owned),
    }
}
