//! The patterns of `graph-match` and `graph-shortest-paths` (`docs/semantics.md §25`).
//!
//! [`elements`] resolves the variables of the patterns, [`expressions`] the expressions over them. A transform reads the rows of
//! the graph, with a column for each property that an expression reads and for each predicate over one element, searches
//! the graph, and returns a row for each match. Predicates over several elements and the result columns are computed over these rows.

pub(crate) mod columns;
pub(crate) mod degrees;
pub(crate) mod elements;
pub(crate) mod expressions;
pub(crate) mod matches;
pub(crate) mod names;
pub(crate) mod pattern;
pub(crate) mod plan;
pub(crate) mod predicates;
pub(crate) mod rows;
pub(crate) mod search;
pub(crate) mod topology;
