//! The engine over a real store: every operation by its values.

mod apply;
mod events;
mod metrics;
mod metrics_segments;
mod query;
mod support;
