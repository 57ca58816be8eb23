//! Keys of bags that a source stores as columns: `tostring(customDimensions.tenant)` reads the column and not the bag.
//!
//! The pass rewrites bound plans. It requests columns from each scan for the keys that the plan reads. The columns pass
//! through the operators that keep the bag, and expressions that need only the text or the number of a key read them. Above
//! an operator that the pass does not support, expressions read the bag, which is always correct.

mod path;
mod plan;
mod source;

use datafusion::common::Result;

use crate::call::InnerKernel;
use crate::query::BoundQuery;

pub use source::{Leaf, LeafSource};

/// The inner kernels that read constant keys.
pub(crate) static KERNELS: &[&InnerKernel] =
    &[&path::LEAF_TEXT, &path::MEMBER_REAL, &path::MEMBER_TEXT];

impl BoundQuery {
    /// Rewrites a query to read keys of bags from columns if `source` has them. The results stay the same.
    ///
    /// # Errors
    /// An error of DataFusion about a rewritten plan, which is a defect of this pass.
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
