//! The accumulators: the state of an aggregate over many groups.

pub(crate) mod bag;
pub(crate) mod collect;
pub(crate) mod counts;
pub(crate) mod description;
pub(crate) mod digest;
pub(crate) mod extreme;
pub(crate) mod groups;
pub(crate) mod hyperloglog;
pub(crate) mod pick;
pub(crate) mod quantile;
pub(crate) mod ranked;
pub(crate) mod schema;
pub(crate) mod sketch;
pub(crate) mod tdigest;
pub(crate) mod ticks;
