//! KQL syntax tree to typed DataFusion plan, and the language's library.
//!
//! Stages: [`bind`] turns a tree into [`BoundQuery`], whose plans DataFusion optimises and executes. KQL types travel
//! beside each plan in [`Column`], because Arrow types cannot tell a `timespan` from a `long`.

pub mod aggregates;
mod bind;
mod catalog;
mod context;
mod convert;
mod error;
mod exec;
mod fold;
pub mod functions;
mod held;
mod large;
mod leaves;
mod operators;
mod plan;
mod plugins;
mod query;
pub mod reference;
mod relation;
pub mod run;
mod steps;
mod subtables;
#[cfg(test)]
mod testing;
mod value;
mod window;
pub mod work;

pub use bind::{Binding, NeededRows, bind, bind_or_ask};
pub use catalog::{Catalog, CatalogError, CatalogTable, TableScope};
pub use exec::KqlQueryPlanner;
pub use held::HeldRows;
pub use leaves::{Leaf, LeafSource};
pub use query::{BindOptions, BoundQuery, BoundResult, Settings};
pub use relation::{Column, ColumnRole, Relation, Scalar};
pub use steps::{MaterializedTable, Step, StepKind};
