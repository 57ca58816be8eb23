//! Dynamic values as arguments and results of kernels.

pub(crate) mod arguments;
pub(crate) mod cells;
pub(crate) mod rows;
