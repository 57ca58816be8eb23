//! The tabular operators: one file each, with the node's name. `bind` turns a node and its input into a relation.
//!
//! Filters, projections, limits, sorts, aggregations, joins and unions are DataFusion's own nodes, so that its optimiser
//! sees through them; the rest are the transforms of [`crate::transform`].

pub(crate) mod as_;
pub(crate) mod assert_schema;
pub(crate) mod consume;
pub(crate) mod count;
pub(crate) mod datatable;
pub(crate) mod distinct;
pub(crate) mod evaluate;
pub(crate) mod extend;
pub(crate) mod facet;
pub(crate) mod find;
pub(crate) mod fork;
pub(crate) mod getschema;
mod group_limit;
pub(crate) mod invoke;
pub(crate) mod join;
mod join_keys;
mod join_plan;
mod kv_text;
pub(crate) mod lookup;
pub(crate) mod macro_expand;
pub(crate) mod make_series;
pub(crate) mod mv_apply;
pub(crate) mod mv_expand;
mod mv_rows;
mod mv_value;
pub(crate) mod parse;
pub(crate) mod parse_kv;
mod parse_rows;
pub(crate) mod partition;
pub(crate) mod print;
pub(crate) mod project;
pub(crate) mod project_away;
pub(crate) mod project_by_names;
pub(crate) mod project_keep;
pub(crate) mod project_rename;
pub(crate) mod project_reorder;
pub(crate) mod range;
pub(crate) mod read_again;
pub(crate) mod reduce;
mod reduce_clusters;
mod reduce_rows;
pub(crate) mod render;
pub(crate) mod sample;
pub(crate) mod sample_distinct;
pub(crate) mod scan;
mod scan_rows;
pub(crate) mod search;
pub(crate) mod serialize;
mod series_rows;
pub(crate) mod sort;
pub(crate) mod stand_in;
mod stand_in_rows;
pub(crate) mod subtable_value;
pub(crate) mod summarize;
pub(crate) mod support;
pub(crate) mod take;
pub(crate) mod top;
pub(crate) mod top_hitters;
pub(crate) mod top_nested;
pub(crate) mod union;
mod union_plan;
pub(crate) mod where_;
pub(crate) mod window;
mod window_rows;

#[cfg(test)]
mod tests;
