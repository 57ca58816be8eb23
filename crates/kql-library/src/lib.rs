//! The library of the language: scalar functions and aggregates, with their signatures, kernels and examples.
//!
//! Nothing here knows the binder or a tabular operator. A scalar function is a kernel over Arrow arrays or a rewrite onto a
//! DataFusion expression; an aggregate builds DataFusion aggregate calls. Both see their arguments as [`Scalar`]s: an
//! expression with its KQL type beside it.

pub mod aggregates;
pub mod functions;
pub mod large;
pub mod reference;
mod scalar;
pub mod value;
pub mod work;

pub use scalar::Scalar;
