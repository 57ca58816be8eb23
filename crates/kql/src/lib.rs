//! Binds KQL syntax trees to typed DataFusion plans.
//!
//! [`bind`] turns a tree into a [`BoundQuery`], whose plans DataFusion optimises and executes. Each plan carries its KQL
//! types in [`Column`], because Arrow types do not distinguish a `timespan` from a `long`.

mod bind;
mod bins;
mod catalog;
pub mod codec;
mod context;
mod datafusion;
mod error;
mod filter_terms;
mod fold;
mod graph;
mod graph_pattern;
mod held;
mod ingestion_time;
mod leaves;
mod operators;
mod plan;
mod plugins;
mod principal;
mod query;
mod random;
mod random_rows;
pub mod reference;
mod relation;
mod reuse;
mod row_wise;
pub mod run;
mod sorted_column;
mod steps;
mod subtables;
#[cfg(test)]
mod testing;
mod transform;
mod window;

pub use bind::{Binding, NeededRows, bind, bind_or_ask};
pub use bins::bin_of_column;
pub use catalog::{Catalog, CatalogError, CatalogTable, TableScope};
pub use datafusion::{DictionaryScans, coalesces_hash_partitions, session};
pub use filter_terms::filter_terms;
pub use held::HeldRows;
pub use hindsight_kql_library::{addresses, kernel, work};
use hindsight_kql_library::{
    aggregates, call, convert, definition, encoder, functions, list_match, real_key,
    regular_expression, signature, text_match, value,
};
pub use ingestion_time::INGESTION_TIME;
pub use leaves::{Leaf, LeafSource};
pub use principal::{PrincipalKind, QueryPrincipal};
pub use query::{BindOptions, BoundQuery, BoundResult, Settings};
pub use random::RandomSource;
pub use random_rows::RandomRowSource;
pub use relation::{Column, ColumnRole, Relation, Scalar};
pub use reuse::with_sources;
pub use row_wise::{has_stable_expressions, is_row_wise, passes_rows};
pub use sorted_column::{SortedColumn, sorted_column};
pub use steps::{MaterializedTable, Step, StepKind};
