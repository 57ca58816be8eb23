//! The wire's JSON, written straight from Arrow into one text. No other part of the program knows these shapes.

pub(crate) mod cell;
pub(crate) mod csdl;
pub(crate) mod csv;
pub(crate) mod events;
pub(crate) mod json;
pub(crate) mod kusto;
pub(crate) mod live;
pub(crate) mod management;
pub(crate) mod metadata;
pub(crate) mod metrics;
pub(crate) mod missing;
pub(crate) mod oauth;
pub(crate) mod otlp;
pub(crate) mod portal;
pub(crate) mod query;
pub(crate) mod result;
pub(crate) mod test_mode;
pub(crate) mod track;
mod visualization;
