//! Metrics: a metric request becomes a KQL syntax tree, and its rows become the nested result.

mod bins;
mod catalogue;
mod dimension;
mod request;
mod result;
mod to_kql;

pub(crate) use catalogue::bare_name;
pub use catalogue::{Aggregation, Metric, MetricSource, find, standard_metrics};
pub use dimension::{COMMON_DIMENSIONS, dimension_display_name};
pub(crate) use request::{MetricPlan, plan};
pub(crate) use result::assemble;
pub(crate) use to_kql::to_kql;
