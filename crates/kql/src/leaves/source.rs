//! What a source holds as columns.

use std::sync::Arc;

use datafusion::logical_expr::TableSource;
use hindsight_kql_types::ScalarType;

/// A key of a bag that is a column of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// The bag's field.
    pub bag: String,
    /// The key.
    pub key: String,
    /// `String`: what `tostring(bag.key)` gives, or null where the bag lacks the key. `Real`: what
    /// `todouble(bag.key)` gives.
    pub kind: ScalarType,
    /// The field that holds it.
    pub field: String,
}

/// Gives sources columns for keys of bags.
pub trait LeafSource: Send + Sync {
    /// `source` with columns for these keys of its bags behind its own columns, and what they are; `None` where it has
    /// none to give.
    fn with_leaves(
        &self,
        source: &Arc<dyn TableSource>,
        keys: &[String],
    ) -> Option<(Arc<dyn TableSource>, Vec<Leaf>)>;
}
