//! The errors of binding: diagnostics.

use datafusion::common::DataFusionError;
use hindsight_kql_syntax::{Code, Diagnostic, Span};

/// The result of binding.
pub(crate) type BindResult<T> = Result<T, Diagnostic>;

/// Converts an error of DataFusion about a plan that the binder built. It is a defect of the binder and is reported.
pub(crate) fn plan_error(error: DataFusionError, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::Semantics,
        format!("the query cannot be planned: {error}"),
        span,
    )
}

/// As `plan_error`, for code that has only a span.
pub(crate) fn planned<T>(result: datafusion::common::Result<T>, span: Span) -> BindResult<T> {
    result.map_err(|e| plan_error(e, span))
}
