//! Keys of bags that a source holds as columns: `tostring(customDimensions.tenant)` reads the column and not the bag.
//!
//! The pass works on bound plans. A scan is asked for columns of the keys that the plan reads; they travel beside the
//! bag through the operators that keep it, and the expressions that only want the key's text or number read them.
//! Wherever the way from the scan is not understood the bag is read, which is always right.

mod path;
mod plan;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::logical_expr::TableSource;
use hindsight_kql_types::ScalarType;

use crate::bind::BoundQuery;

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

impl BoundQuery {
    /// The same query, reading keys of bags from columns where `source` has them. Its results are the same.
    ///
    /// # Errors
    /// What DataFusion says of a plan: a mistake of this pass.
    pub fn with_leaves(mut self, source: &dyn LeafSource) -> Result<BoundQuery> {
        for result in &mut self.results {
            result.plan = plan::rewrite(result.plan.clone(), source)?;
        }
        for step in &mut self.steps {
            step.plan = plan::rewrite(step.plan.clone(), source)?;
        }
        Ok(self)
    }
}
