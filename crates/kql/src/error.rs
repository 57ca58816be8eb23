//! What binding answers where it cannot go on: diagnostics.

use datafusion::common::DataFusionError;
use hindsight_kql_syntax::{Code, Diagnostic, Span};

/// What binding gives.
pub(crate) type BindResult<T> = Result<T, Diagnostic>;

/// What DataFusion says about a plan that the binder built: a mistake of the binder, shown rather than hidden.
pub(crate) fn plan_error(error: DataFusionError, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::Semantics,
        format!("the query cannot be planned: {error}"),
        span,
    )
}

/// `plan_error` where a span is all there is.
pub(crate) fn planned<T>(result: datafusion::common::Result<T>, span: Span) -> BindResult<T> {
    result.map_err(|e| plan_error(e, span))
}
