//! KQL syntax tree to typed DataFusion plan, and the language's library.
//!
//! Stages: [`bind`] turns a tree into [`BoundQuery`], whose plans DataFusion optimises and executes. KQL types travel
//! beside each plan in [`Column`], because Arrow types cannot tell a `timespan` from a `long`.

pub mod aggregates;
mod bind;
mod catalog;
pub mod functions;
mod operators;
mod relation;

pub use catalog::{Catalog, CatalogError, CatalogTable, TableScope};
pub use relation::{Column, Relation, Scalar};
