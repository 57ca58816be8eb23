//! `coalesce` (`semantics.md §5.4`): empty strings are skipped as nulls are.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::lit;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["coalesce(first: common, other: common...) -> common"],
    aliases: &[],
    summary: "The first argument that is neither null nor an empty string.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print n = coalesce(long(null), 7, 8)", "n:long\n7"),
        example("print s = coalesce('', 'x')", "s:string\nx"),
    ],
    eval: Eval::Rewrite(bind),
};

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    if call.args.len() < 2 || call.args.len() > 64 {
        return Err(refuse(
            call,
            "SEM0223",
            "coalesce(): function expects [2..64] argument(s)",
        ));
    }
    let nothing = || lit(ScalarValue::Utf8View(Some(String::new())));
    let Some((last, first)) = call.args.split_last() else {
        return Ok(nothing());
    };
    let when_then_expr = first
        .iter()
        .map(|arg| {
            let present = match call.result {
                ScalarType::String => arg.expr.clone().not_eq(nothing()),
                _ => arg.expr.clone().is_not_null(),
            };
            (Box::new(present), Box::new(arg.expr.clone()))
        })
        .collect();
    Ok(Expr::Case(Case {
        expr: None,
        when_then_expr,
        else_expr: Some(Box::new(last.expr.clone())),
    }))
}
