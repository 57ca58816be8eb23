//! A call of a window function that waits for its operator.

use hindsight_kql_syntax::Span;
use hindsight_kql_types::ScalarType;

use super::rows::WindowFunction;
use crate::relation::Scalar;

/// A window call that waits for its operator.
#[derive(Debug, Clone)]
pub(crate) struct WindowCall {
    pub(crate) function: WindowFunction,
    /// What is computed over: the value, and the restart condition where one was written.
    pub(crate) args: Vec<Scalar>,
    pub(crate) kind: ScalarType,
    pub(crate) span: Span,
}
