//! The plug-ins of `evaluate` (`semantics.md §24`): one file each. `bind` turns a call and its input into a relation.

pub(crate) mod activity;
pub(crate) mod args;
pub(crate) mod bag_unpack;
pub(crate) mod dcount_intersect;
pub(crate) mod ip_lookup;
pub(crate) mod narrow;
pub(crate) mod pivot;
pub(crate) mod rewrite;
pub(crate) mod rows_near;
pub(crate) mod schema_merge;
pub(crate) mod windows;
