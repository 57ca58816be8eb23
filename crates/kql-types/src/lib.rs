//! KQL scalar types: values, text forms, conversions and their Arrow mapping.
//!
//! This crate depends on neither the syntax nor the query engine. The rules are in `docs/semantics.md §2, §8, §9`.
//!
//! No function panics on any input: invalid text or bytes give `None`, which is a KQL null.

pub mod convert;
pub mod datetime;
pub mod decimal;
pub mod dynamic;
pub mod guid;
pub mod number;
pub mod real;
mod scalar_type;
pub mod terms;
pub mod ticks;
pub mod timespan;
mod value;

pub use datetime::Civil;
pub use dynamic::{BagBuilder, Dynamic, DynamicRef, Encoder};
pub use number::{parse_bool, parse_int, parse_long};
pub use real::parse_real;
pub use scalar_type::{DECIMAL_SCALE, ScalarType};
pub use value::Value;
