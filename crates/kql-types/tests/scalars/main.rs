//! The rules of `semantics.md` §2, §8, §9 and §28.2, one table per boundary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

mod datetime;
mod decimal;
mod dynamic;
mod guid;
mod number;
mod real;
mod timespan;
mod value;
mod variant_bytes;
