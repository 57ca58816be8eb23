//! The code that is specific to DataFusion 55.2: sessions, the planner, and the corrections of DataFusion's rules
//! ([`rules`]).
//!
//! No other module names a rule of DataFusion.

mod cancellation;
mod corrections;
mod filter_size;
mod grouping;
mod hidden;
mod marker;
mod partitioning;
mod planner;
pub(crate) mod rewrite;
mod rules;
pub mod session;
mod wrap;

pub use grouping::DictionaryScans;
pub use partitioning::coalesce::coalesces_hash_partitions;

pub(crate) use corrections::{distinct_projections, large_literal};
pub(crate) use hidden::{HiddenExec, Hide};
pub(crate) use partitioning::coalesce::CoalesceHashPartitionsExec;

use crate::call::InnerKernel;

/// The inner kernels of the corrections.
pub(crate) static KERNELS: &[&InnerKernel] = &[&corrections::distinct_projections::NOT_MERGED];
