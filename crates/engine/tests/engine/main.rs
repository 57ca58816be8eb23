//! The engine over a real store: every operation by its values.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

mod apply;
mod cancellation;
mod condition;
mod events;
mod hostile;
mod kept_plans;
mod metrics;
mod metrics_catalogue;
mod metrics_segments;
mod query;
mod support;
mod usage;
