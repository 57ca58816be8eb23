//! The tabular operators: one file each, with the node's name. `bind` turns a node and its input into a relation.
//!
//! Filters, projections, limits, sorts, aggregations, joins and unions are DataFusion's own nodes, so that its optimiser
//! sees through them; the rest are the transforms of [`crate::exec`].

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
pub(crate) mod grouped_rows;
pub(crate) mod invoke;
pub(crate) mod join;
pub(crate) mod lookup;
pub(crate) mod macro_expand;
pub(crate) mod make_series;
pub(crate) mod mv_apply;
pub(crate) mod mv_expand;
pub(crate) mod parse;
pub(crate) mod parse_kv;
pub(crate) mod partition;
pub(crate) mod print;
pub(crate) mod project;
pub(crate) mod project_away;
pub(crate) mod project_by_names;
pub(crate) mod project_keep;
pub(crate) mod project_rename;
pub(crate) mod project_reorder;
pub(crate) mod range;
pub(crate) mod reduce;
pub(crate) mod render;
mod row_groups;
pub(crate) mod sample;
pub(crate) mod sample_distinct;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod serialize;
pub(crate) mod sort;
pub(crate) mod summarize;
pub(crate) mod take;
pub(crate) mod top;
pub(crate) mod top_hitters;
pub(crate) mod top_nested;
pub(crate) mod union;
pub(crate) mod where_;

#[cfg(test)]
mod tests;
