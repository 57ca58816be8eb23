//! `preview`: the first rows as an additional result, and the total number of rows.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, Operator};

use super::args::Args;
use super::tree;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;

/// `preview(rows)`; it is the last operator of its pipeline.
pub(crate) fn bind(
    call: &Call,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    let mut args = Args::new(call);
    let count = binder.constant_long(args.required("NumberOfRows", binder, span)?)?;
    args.end(binder, span)?;
    let first = vec![Operator::take(Expr::long(count.max(0)))];
    let rows = tree::run(first, input.relation.clone(), binder, span)?;
    let result = binder.result(None, rows, span)?;
    // The count is the result of the pipeline itself, so that it follows the preview.
    let mut bound = input.map(|rows| tree::run(vec![Operator::count()], rows, binder, span))?;
    bound.extra_results.push(result);
    Ok(bound)
}
