//! Nodes of one input.

use datafusion::common::{DataFusionError, Result};

/// The only one of the inputs that the engine gives a node of this name; an error where there is none.
pub(crate) fn only_input<T>(inputs: impl IntoIterator<Item = T>, node: &str) -> Result<T> {
    let input = inputs.into_iter().next();
    input.ok_or_else(|| DataFusionError::Internal(format!("{node} needs an input")))
}
