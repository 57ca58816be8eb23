//! The library of the language: scalar functions and aggregates, with their signatures, kernels and examples.
//!
//! Nothing here knows the binder or a tabular operator. A scalar function is a kernel over Arrow arrays or a rewrite onto a
//! DataFusion expression; an aggregate builds DataFusion aggregate calls. Both see their arguments as [`Scalar`]s: an
//! expression with its KQL type beside it.
//!
//! The modules from below: [`value`], [`large`] and [`work`] know no kernel; [`kernel`] is what a kernel sees,
//! [`definition`] what a function is and [`call`] how a plan calls a kernel; on these stand the kernels that operators share
//! ([`text_match`], [`list_match`], [`real_key`]), the states of aggregates, [`functions`] and [`aggregates`]. Functions and
//! aggregates do not know each other. A test of the `server` crate keeps the modules free of cycles.

pub mod aggregates;
pub mod call;
pub mod definition;
mod dynamic;
pub mod functions;
pub mod kernel;
pub mod large;
pub mod list_match;
pub mod real_key;
pub mod reference;
mod scalar;
pub mod signature;
mod states;
pub mod text_match;
pub mod value;
pub mod work;

pub use scalar::Scalar;
