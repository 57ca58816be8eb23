//! The engine over a real store: every operation by its values.

mod apply;
mod events;
mod hostile;
mod metrics;
mod metrics_catalogue;
mod metrics_segments;
mod query;
mod stopping;
mod support;
