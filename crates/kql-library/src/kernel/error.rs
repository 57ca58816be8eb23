//! Errors of kernels.

use arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use hindsight_kql_types::dynamic::MAX_ENCODED;

use crate::work::CancellationToken;

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

impl KernelError {
    /// The error of a dynamic value that an encoder finished as no bytes: the memory pool of queries refused its memory, or it is
    /// larger than a value may be.
    pub fn no_value() -> KernelError {
        match CancellationToken::current().refusal() {
            Some(message) => KernelError::Memory(message.to_owned()),
            None => KernelError::TooLarge(MAX_ENCODED),
        }
    }

    /// The error of a plan in which the function or operator `name` fails; an error of a limit names it.
    pub fn of(self, name: &str) -> DataFusionError {
        match self {
            KernelError::Memory(message) => {
                DataFusionError::ResourcesExhausted(format!("{name}: {message}"))
            }
            KernelError::TooLarge(limit) => {
                DataFusionError::External(Box::new(KernelError::Failed(format!(
                    "{name}: a value would have more than {limit} bytes, the most that one value may have"
                ))))
            }
            other => DataFusionError::External(Box::new(other)),
        }
    }
}

impl From<ArrowError> for KernelError {
    fn from(error: ArrowError) -> KernelError {
        KernelError::Arrow(error.to_string())
    }
}
