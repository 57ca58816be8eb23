//! The rules of `semantics.md` §2, §8, §9 and §28.2, one table per boundary.

mod datetime;
mod decimal;
mod dynamic;
mod guid;
mod number;
mod real;
mod timespan;
mod value;
mod variant_bytes;
