//! Pieces of plans that operators and plug-ins are made of: projections, limits, aggregations, joins, unions, fixed rows.

mod chain;
mod columns;
pub(crate) mod determinism;
pub(crate) mod group_limit;
pub(crate) mod join;
pub(crate) mod join_keys;
pub(crate) mod union;

pub(crate) use crate::relation::Output;
pub(crate) use columns::*;
