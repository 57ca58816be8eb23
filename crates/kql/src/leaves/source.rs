//! The keys of bags that a source stores as columns.

use std::sync::Arc;

use datafusion::logical_expr::TableSource;
use hindsight_kql_types::ScalarType;

/// A column of a source that holds a key of a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The bag's field.
    pub bag: String,
    /// The key.
    pub key: String,
    /// `String`: the value of `tostring(bag.key)`, or null if the bag lacks the key. `Real`: the value of
    /// `todouble(bag.key)`.
    pub kind: ScalarType,
    /// The field that holds it.
    pub field: String,
}

/// Extends sources with columns for keys of bags.
pub trait LeafSource: Send + Sync {
    /// `source` with columns for these keys of its bags after its own columns, and the description of those columns; `None`
    /// if it has no such column.
    fn with_leaves(
        &self,
        source: &Arc<dyn TableSource>,
        keys: &[String],
    ) -> Option<(Arc<dyn TableSource>, Vec<Leaf>)>;
}
