//! Pieces of plans that operators and plug-ins are made of: projections, limits, aggregations, joins, unions, fixed rows.

mod columns;
pub(crate) mod determinism;
pub(crate) mod group_limit;
pub(crate) mod join;
pub(crate) mod join_keys;
mod transforms;
pub(crate) mod union;

pub(crate) use crate::relation::Output;
pub(crate) use columns::*;
pub(crate) use transforms::{by_group, transform};
