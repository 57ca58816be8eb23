//! `rows_near`: the rows near those that match a condition.

use hindsight_kql_syntax::ast::{Call, Expr, Operator};
use hindsight_kql_syntax::{Code, Span};

use super::args::Args;
use super::tree::{name, named, run};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// The maximum distance. Each row of the distance becomes one `prev` or `next` call.
const MAX_DISTANCE: i64 = 64;

pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let condition = args.required("Condition", binder, span)?.clone();
    let before = distance(args.required("NumRows", binder, span)?, binder)?;
    let after = match args.option("RowsAfter") {
        Some(expr) => distance(expr, binder)?,
        None => before,
    };
    args.end(binder, span)?;
    if !input.serialized {
        return Err(binder.error(
            Code::Semantics,
            "the plug-in 'rows_near' needs serialized rows: sort them, or use 'serialize'",
            span,
        ));
    }
    let near = || name("$near");
    let at = |function: &str, n| Expr::call(function, [near(), Expr::long(n)]);
    let before = (1..=before).map(|n| at("next", n));
    let after = (1..=after).map(|n| at("prev", n));
    let test = after.chain(before).fold(near(), Expr::or);
    let operators = vec![
        Operator::extend(vec![named("$near", Expr::call("tobool", [condition]))]),
        Operator::filter(test),
        Operator::project_away(vec![near()]),
    ];
    run(operators, input, binder, span)
}

fn distance(
    expr: &hindsight_kql_syntax::ast::Expr,
    binder: &mut dyn BindContext,
) -> BindResult<i64> {
    match binder.constant_long(expr)? {
        n if (0..=MAX_DISTANCE).contains(&n) => Ok(n),
        _ => Err(binder.error(
            Code::Semantics,
            format!("a distance of 0 to {MAX_DISTANCE} rows is supported"),
            expr.span,
        )),
    }
}
