//! The text of a value of any type (`tostring`, `semantics.md §8.5`).

use arrow::array::{ArrayRef, AsArray, StringViewArray};
use hindsight_kql_types::ScalarType;

use super::kernel::KernelError;

/// The text of every row: null of any type is `""`.
pub fn to_text(array: &ArrayRef, kind: ScalarType) -> Result<StringViewArray, KernelError> {
    match kind {
        ScalarType::String => Ok(array.as_string_view().clone()),
        other => Err(KernelError::Failed(format!(
            "tostring of {other} is not available yet"
        ))),
    }
}
