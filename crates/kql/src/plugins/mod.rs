//! The plug-ins of `evaluate` (`docs/semantics.md §24`), one file each. `bind` binds a call and its input to a relation.

mod activity;
pub(crate) mod args;
mod autocluster;
mod bag_unpack;
mod basket;
mod dcount_intersect;
mod diffpatterns;
mod funnel_sequence;
mod funnel_sequence_completion;
mod geo_lookup;
mod ip_lookup;
mod narrow;
mod patterns;
mod pivot;
mod preview;
mod registry;
mod rows_near;
mod schema_merge;
mod sequence_detect;
mod session_count;
mod timeline;
mod tree;
mod windows;

pub(crate) use registry::{Bind, Plugin, all, find};
