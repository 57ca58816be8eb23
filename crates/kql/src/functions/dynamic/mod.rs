//! Functions on dynamic values that are neither arrays nor bags alone.

pub(crate) mod cells;
pub(crate) mod pack;

pub(crate) use pack::pack_array_unless_all_null;
