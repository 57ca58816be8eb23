//! Keys of bags that a source holds as columns: `tostring(customDimensions.tenant)` reads the column and not the bag.
//!
//! The pass works on bound plans. A scan is asked for columns of the keys that the plan reads; they travel beside the
//! bag through the operators that keep it, and the expressions that only want the key's text or number read them.
//! Wherever the way from the scan is not understood the bag is read, which is always right.

mod path;
mod plan;
mod source;

use datafusion::common::Result;

use crate::query::BoundQuery;

pub use source::{Leaf, LeafSource};

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
