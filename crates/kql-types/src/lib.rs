//! KQL scalar types: values, text forms, conversions and their Arrow mapping.
//!
//! This crate knows no syntax and no query engine. The rules come from `semantics.md` §2, §8 and §9.

mod scalar_type;

pub use scalar_type::{DECIMAL_SCALE, ScalarType};
