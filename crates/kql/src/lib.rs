//! KQL syntax tree to typed DataFusion plan.
//!
//! Stages: [`bind`] turns a tree into [`BoundQuery`], whose plans DataFusion optimises and executes. KQL types travel
//! beside each plan in [`Column`], because Arrow types cannot tell a `timespan` from a `long`.

#![allow(
    clippy::match_bool,
    clippy::indexing_slicing,
    reason = "this crate is being rebuilt, and becomes clean with that"
)]

mod bind;
mod catalog;
mod datafusion;
mod held;
mod leaves;
mod operators;
mod plugins;
pub mod reference;
mod relation;
pub mod run;
#[cfg(test)]
mod testing;
mod transform;

pub use bind::{
    BindOptions, Binding, BoundQuery, BoundResult, MaterializedTable, NeededRows, Settings, Step,
    StepKind, bind, bind_or_ask,
};
pub use catalog::{Catalog, CatalogError, CatalogTable, TableScope};
pub use datafusion::session;
pub use held::HeldRows;
use hindsight_kql_library::{
    aggregates, call, definition, functions, list_match, real_key, signature, text_match,
};
pub use hindsight_kql_library::{kernel, work};
pub use leaves::{Leaf, LeafSource};
pub use relation::{Column, Relation, Scalar};
