//! The meaning of each tabular operator, one file each.
