//! `preview`: the first rows as a result of their own, and how many rows there are in all.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Call;

use super::args::Args;
use super::rewrite::rewrite;
use crate::bind::{BindResult, Binder};
use crate::relation::Relation;

/// `preview(rows)`; it ends its pipeline.
pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let count = binder.constant_long(args.required("NumberOfRows", binder, span)?)?;
    args.end(binder, span)?;
    let rows = rewrite(
        &format!("take {}", count.max(0)),
        input.clone(),
        binder,
        span,
    )?;
    binder.add_result(None, rows, None, span)?;
    // The count is the pipeline's own result, so that results stand in their order.
    rewrite("count", input, binder, span)
}
