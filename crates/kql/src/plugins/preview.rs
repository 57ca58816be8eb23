//! `preview`: the first rows as a result of their own, and how many rows there are in all.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, Operator};

use super::args::Args;
use super::tree;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;

/// `preview(rows)`; it ends its pipeline.
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
    // The count is the pipeline's own result, so that results stand in their order.
    let mut bound = input.map(|rows| tree::run(vec![Operator::count()], rows, binder, span))?;
    bound.extra_results.push(result);
    Ok(bound)
}
