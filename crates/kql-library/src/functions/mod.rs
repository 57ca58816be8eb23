//! The scalar functions: one file each, a datum beside its kernel, listed in its category's `mod.rs`.

mod array;
pub mod bag;
pub mod columns;
mod conversion;
mod datetime;
mod dynamic;
mod encoding;
mod geo;
mod hash;
mod ip;
mod logic;
mod math;
mod parse;
mod prelude;
mod registry;
mod series;
mod string;
mod units;

pub use conversion::{TO_REAL, TO_STRING};
pub use registry::{Registry, registry};
