//! Errors of kernels.

use arrow::error::ArrowError;

/// An error of a kernel at run time. Bad data never fails a query (`docs/semantics.md §28.4`); these errors are for `assert` and
/// for limits.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KernelError {
    /// A message for the user.
    #[error("{0}")]
    Failed(String),
    /// An error of the Arrow library: a programming mistake.
    #[error("{0}")]
    Arrow(String),
    /// The memory pool of queries cannot hold the results of the batch.
    #[error("{0}")]
    Memory(String),
    /// A value would exceed this number of bytes.
    #[error("a value has more than {0} bytes")]
    TooLarge(usize),
    /// The query was cancelled.
    #[error("the query was cancelled")]
    Cancelled,
}

impl From<ArrowError> for KernelError {
    fn from(error: ArrowError) -> KernelError {
        KernelError::Arrow(error.to_string())
    }
}
