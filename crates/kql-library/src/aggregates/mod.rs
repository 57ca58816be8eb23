//! The aggregates: one file each, the definition next to its accumulator.

mod arg_max;
mod argmax;
mod avg;
mod binary_all;
mod build;
mod buildschema;
mod count;
mod count_distinct;
mod covariance;
mod dcount;
mod definition;
mod described;
mod hll;
mod make_bag;
mod make_list;
mod make_set;
mod min_max;
mod percentile;
mod registry;
mod sum;
mod take_any;
mod tdigest;
mod variance;

pub use crate::states::collect::MAX_ELEMENTS;
pub use crate::states::pick::{Pick, PickedRows};
pub use arg_max::{pick_row, picks_largest};
pub use dcount::takes_dictionary;
pub use definition::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
pub(crate) use described::described;
pub use registry::{all, find, names};

use crate::call::InnerKernel;

/// The inner kernels of the aggregates.
pub(crate) static KERNELS: &[&InnerKernel] =
    &[&percentile::ARRAY, &sum::IN_RANGE, &variance::ROUNDED];

/// The aggregates of every family.
static LISTS: &[&[&AggregateFunction]] = &[
    arg_max::LIST,
    argmax::LIST,
    avg::LIST,
    binary_all::LIST,
    buildschema::LIST,
    count::LIST,
    count_distinct::LIST,
    covariance::LIST,
    dcount::LIST,
    hll::LIST,
    make_bag::LIST,
    make_list::LIST,
    make_set::LIST,
    min_max::LIST,
    percentile::LIST,
    sum::LIST,
    take_any::LIST,
    tdigest::LIST,
    variance::LIST,
];
