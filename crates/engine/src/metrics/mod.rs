//! Metrics: a metric request becomes a KQL syntax tree, and its rows become the nested result.

mod bins;
mod catalogue;
mod continents;
mod derived;
mod dimension;
mod dimension_names;
mod metric;
mod request;
mod result;
mod standard;
mod to_kql;

pub(crate) use catalogue::bare_name;
pub use catalogue::find;
pub use dimension_names::dimension_display_name;
pub use metric::{Aggregation, Metric, MetricSource};
pub(crate) use request::{MetricPlan, plan};
pub(crate) use result::assemble;
pub use standard::standard_metrics;
pub(crate) use to_kql::to_kql;
