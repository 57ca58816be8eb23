//! What is specific to DataFusion 55.2: how plans are planned, and which of its rules are corrected.

mod cancellation;
mod corrections;
mod hidden;
mod mark;
mod partitioning;
mod planner;
mod whole_leaf;

pub use planner::KqlQueryPlanner;

pub(crate) use cancellation::{logical_rules, physical_rules};
pub(crate) use corrections::{distinct_projections, large_literal};
