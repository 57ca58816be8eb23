//! `assert`: evaluated while binding, so its condition must be a constant.

use datafusion::logical_expr::lit;
use hindsight_kql_syntax::Code;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["assert(predicate: const bool, message: const string) -> bool"],
    aliases: &[],
    summary: "Fails the query with a message unless a constant condition is true.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print b = assert(1 < 2, 'numbers are in order')",
        "b:bool\ntrue",
    )],
    eval: Eval::Rewrite(bind),
};

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    let condition = call.args.first().and_then(|arg| arg.constant.as_ref());
    match condition {
        Some(Value::Bool(true)) => Ok(lit(true)),
        _ => {
            let message = constant_text(call, 1).unwrap_or_default();
            Err(refuse(
                call,
                Code::Semantics,
                format!("assert() has failed: {message}"),
            ))
        }
    }
}
