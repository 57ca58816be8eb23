//! Into how many partitions rows are hashed.

pub(in crate::datafusion) mod cardinality;
mod coalesce;
pub(in crate::datafusion) mod increase;
