//! `coalesce` (`docs/semantics.md §5.4`): empty strings are skipped as nulls are.

use arrow::array::{AsArray, StringViewArray};
use arrow::compute::is_not_null;
use arrow::compute::kernels::cmp::neq;
use arrow::compute::kernels::zip::zip;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::lit;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["coalesce(first: common, other: common...63) -> common"],
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
    let nothing = || lit(ScalarValue::Utf8View(Some(String::new())));
    let Some((last, first)) = call.args.split_last() else {
        return Ok(nothing());
    };
    if first.iter().any(|arg| arg.expr.is_volatile()) {
        return Ok(call_kernel(call, &KERNEL));
    }
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

pub(super) static KERNEL: InnerKernel = InnerKernel::new("$coalesce", evaluate_each_once);

/// Evaluates every argument once: a null test and a separate read of a volatile argument would be two draws.
fn evaluate_each_once(args: &KernelArgs<'_>) -> KernelResult {
    let last = args.len() - 1;
    let mut answer = args.full(last)?;
    for index in (0..last).rev() {
        let value = args.full(index)?;
        let present = match args.result_kind() {
            ScalarType::String => {
                let nothing = StringViewArray::new_scalar("");
                neq(value.as_string_view(), &nothing)?
            }
            _ => is_not_null(&value)?,
        };
        answer = zip(&present, &value, &answer)?;
    }
    Ok(answer)
}
