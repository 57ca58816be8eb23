//! Calls of window functions that are not in a plan yet.

use hindsight_kql_syntax::Span;
use hindsight_kql_types::ScalarType;

use super::rows::WindowFunction;
use crate::relation::Scalar;

/// A call of a window function that its operator has not added to the plan yet.
#[derive(Debug, Clone)]
pub(crate) struct WindowCall {
    pub(crate) function: WindowFunction,
    /// The arguments of the computation: the value, and the restart condition if there is one.
    pub(crate) args: Vec<Scalar>,
    pub(crate) kind: ScalarType,
    pub(crate) span: Span,
}
