//! Why kernels fail.

use arrow::error::ArrowError;

/// Why a kernel failed at run time. Bad data never fails a query (`semantics.md §28.4`); this is for `assert` and for
/// limits.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KernelError {
    /// A sentence for the user.
    #[error("{0}")]
    Failed(String),
    /// The array library refused: a programming mistake.
    #[error("{0}")]
    Arrow(String),
    /// The memory of queries has not as much left as the results of one batch need.
    #[error("{0}")]
    Memory(String),
    /// One value would have more than so many bytes.
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
