//! Nodes with one input.

use datafusion::common::{DataFusionError, Result};

/// The only input that DataFusion passes to a node of this name; an error if there is not exactly one.
pub(crate) fn only_input<T>(inputs: impl IntoIterator<Item = T>, node: &str) -> Result<T> {
    let input = inputs.into_iter().next();
    input.ok_or_else(|| DataFusionError::Internal(format!("{node} needs an input")))
}
