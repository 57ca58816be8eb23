//! The number of partitions that rows are hashed into.

pub(in crate::datafusion) mod cardinality;
pub(crate) mod coalesce;
pub(in crate::datafusion) mod increase;
