//! KQL scalar types: values, text forms, conversions and their Arrow mapping.
//!
//! This crate knows no syntax and no query engine. The rules come from `semantics.md` §2, §8 and §9.
//!
//! Every function here is total over its input: text or bytes that do not fit give `None` (a KQL null), never a panic.

pub mod convert;
pub mod datetime;
pub mod decimal;
pub mod dynamic;
pub mod guid;
pub mod number;
pub mod real;
mod scalar_type;
pub mod ticks;
pub mod timespan;
mod value;

pub use datetime::Civil;
pub use dynamic::{BagBuilder, Dynamic, DynamicRef, Encoder};
pub use number::{parse_bool, parse_int, parse_long};
pub use real::parse_real;
pub use scalar_type::{DECIMAL_SCALE, ScalarType};
pub use value::Value;
