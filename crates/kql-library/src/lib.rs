//! The KQL function library: scalar functions and aggregates, with their signatures, kernels and examples.
//!
//! The library does not depend on the binder or on tabular operators. A scalar function is a kernel over Arrow arrays or a
//! rewrite to a DataFusion expression; an aggregate builds DataFusion aggregate calls. Both receive their arguments as
//! [`Scalar`]s: expressions with their KQL types.
//!
//! The modules from the bottom up: [`value`], [`large`], [`addresses`] and [`work`] are independent of kernels; [`kernel`] defines the
//! kernel interface, [`encoder`] reserves the memory of dynamic values, [`definition`] defines functions and [`call`] calls kernels from plans. On these build the kernels that
//! operators share ([`text_match`], [`list_match`], [`real_key`]), the aggregate states, [`functions`] and [`aggregates`].
//! Functions and aggregates do not depend on each other. [`codec`] writes and reads both for other processes. A test of the `server` crate checks that the modules have no
//! cycles.

pub mod addresses;
pub mod aggregates;
pub mod call;
pub mod codec;
pub mod convert;
pub mod definition;
mod dynamic;
pub mod encoder;
pub mod functions;
mod inner_kernels;
pub mod kernel;
pub mod large;
pub mod list_match;
pub mod real_key;
pub mod reference;
pub mod regular_expression;
mod scalar;
pub mod signature;
mod states;
pub mod text_match;
pub mod value;
pub mod work;

pub use scalar::Scalar;
