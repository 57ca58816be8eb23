//! What an error of DataFusion means for the caller.

use std::error::Error;

use datafusion::common::DataFusionError;
use hindsight_kql::kernel::KernelError;
use hindsight_store::StoreError;

use super::spill::{SPILL_FACTOR, SpillLimitReached};
use crate::error::EngineError;

/// The error that the caller of a failed query gets. `memory` is the memory of all queries, in bytes.
pub(crate) fn failure(error: &DataFusionError, memory: usize) -> EngineError {
    let root = error.find_root();
    let exceeded = |message: &str| {
        EngineError::ResourcesExceeded(format!(
            "The query needs more memory than queries may use (setting query.memory, {memory} bytes): {message}"
        ))
    };
    if let Some(error) = of_objects(root) {
        return EngineError::Unavailable(format!(
            "Telemetry that the query reads cannot be read at the moment: {error}"
        ));
    }
    match root {
        DataFusionError::ResourcesExhausted(message) => exceeded(message),
        DataFusionError::External(source) => {
            if let Some(KernelError::Failed(message)) = source.downcast_ref() {
                return EngineError::Failed(message.clone());
            }
            match source.downcast_ref() {
                Some(node @ StoreError::Node { .. }) => EngineError::Unavailable(node.to_string()),
                _ => EngineError::Internal(error.to_string()),
            }
        }
        _ if SpillLimitReached::caused(error) => exceeded(&format!(
            "sorting or grouping wrote more than {SPILL_FACTOR} times as much to disk"
        )),
        _ => EngineError::Internal(error.to_string()),
    }
}

/// The failure of an object store that an error comes from.
fn of_objects(error: &DataFusionError) -> Option<&StoreError> {
    let mut cause: Option<&dyn Error> = Some(error);
    while let Some(error) = cause {
        if let Some(found @ StoreError::Object { .. }) = error.downcast_ref::<StoreError>() {
            return Some(found);
        }
        cause = error.source();
    }
    None
}
