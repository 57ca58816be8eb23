//! Queries over several nodes.
//!
//! A *fragment* of a plan reads segments and reduces their rows: it filters them, aggregates them partially, or returns the first rows of a sort. Where a
//! fragment reads many bytes ([`crate::EngineConfig::distribute_bytes`]), each node runs it over its share of the segments ([`rule`]), and the node that
//! has the query unites what they return ([`exec`]). Everything above a fragment, memtables and small scans stay at that node. Where the groups of an aggregation lie at one node each,
//! nodes aggregate in full ([`partitionwise`]).
//!
//! - **One snapshot.** The message of a fragment lists the segments of the query's snapshot, so nodes need none of their own.
//! - **Never a short answer.** The reply of a node ends with a message of its own. Without it, the node that has the query runs the share itself, or fails the
//!   query if rows of the share were passed on already.
//! - **Limits.** A fragment runs as a query of its principal: on that principal's threads, within the memory of queries, until the deadline of the query.
//!   It ends when its reader is gone.

mod exec;
mod fragments;
mod nodes;
mod partitionwise;
mod placement;
mod rule;
mod run;
mod scan_codec;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use nodes::Distribution;
pub use nodes::{FragmentCall, FragmentReply, FragmentRequest, QueryNodes};
pub(crate) use rule::DistributeFragments;
pub(crate) use run::run;
pub(crate) use scan_codec::plan_codec;
