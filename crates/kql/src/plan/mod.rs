//! Builders of plans for operators and plug-ins: projections, limits, aggregations, joins, unions, constant rows.

mod columns;
pub(crate) mod determinism;
pub(crate) mod group_limit;
pub(crate) mod join;
pub(crate) mod join_keys;
mod project;
mod rows;
mod transforms;
pub(crate) mod union;
mod written;

pub(crate) use crate::relation::Output;
pub(crate) use columns::{
    carried, carried_name, field, groups, hidden_name, missing, pass, subtable_keys, visible,
};
pub(crate) use project::{aggregate, limit, project};
pub(crate) use rows::{array_of, fixed_rows, no_rows};
pub(crate) use transforms::{by_group, transform};
pub(crate) use written::{column_named, columns_matching, free_name, parameter, refuse_groups};
