//! The scalar functions: one file each, the definition next to its kernel, listed in its category's `mod.rs`.

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
mod principal;
mod registry;
mod series;
mod string;
mod units;

pub use conversion::{TO_REAL, TO_STRING};
pub use datetime::BIN;
pub use registry::{Registry, registry};

use crate::call::InnerKernel;
use crate::definition::ScalarFunction;

/// The functions of every category.
static LISTS: &[&[&ScalarFunction]] = &[
    array::LIST,
    bag::LIST,
    dynamic::LIST,
    conversion::LIST,
    datetime::LIST,
    encoding::LIST,
    geo::LIST,
    hash::LIST,
    ip::LIST,
    logic::LIST,
    math::LIST,
    parse::LIST,
    principal::LIST,
    series::LIST,
    string::LIST,
    units::LIST,
];

/// The inner kernels of every category.
static KERNELS: &[&[&InnerKernel]] = &[
    bag::KERNELS,
    conversion::KERNELS,
    datetime::KERNELS,
    logic::KERNELS,
    parse::KERNELS,
    series::KERNELS,
    string::KERNELS,
];

/// The inner kernels of the functions.
pub(crate) fn inner_kernels() -> impl Iterator<Item = &'static InnerKernel> {
    let listed = KERNELS.iter().flat_map(|list| list.iter().copied());
    listed.chain(columns::inner_kernels())
}
