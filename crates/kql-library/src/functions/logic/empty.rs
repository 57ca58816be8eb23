//! `isnull`, `isempty` and their opposites (`docs/semantics.md §5.4`). Strings are never null, only empty.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::lit;
use hindsight_kql_syntax::Code;
use hindsight_kql_types::DynamicRef;

use crate::functions::prelude::*;

pub(crate) static ISNULL: ScalarFunction = ScalarFunction {
    signatures: &["isnull(value: any) -> bool"],
    aliases: &[],
    summary: "Whether a value is null; always false for a string.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print b = isnull(long(null))", "b:bool\ntrue"),
        example("print b = isnull('')", "b:bool\nfalse"),
    ],
    eval: Eval::Rewrite(|call| null(call, true)),
};

pub(crate) static ISNOTNULL: ScalarFunction = ScalarFunction {
    signatures: &["isnotnull(value: any) -> bool"],
    aliases: &["notnull"],
    summary: "Whether a value is not null; always true for a string.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example("print b = isnotnull(5)", "b:bool\ntrue")],
    eval: Eval::Rewrite(|call| null(call, false)),
};

pub(crate) static ISEMPTY: ScalarFunction = ScalarFunction {
    signatures: &["isempty(value: any) -> bool"],
    aliases: &[],
    summary: "Whether a value is null or the empty string.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print b = isempty('')", "b:bool\ntrue"),
        example("print b = isempty(' ')", "b:bool\nfalse"),
    ],
    eval: Eval::Rewrite(|call| empty(call, true)),
};

pub(crate) static ISNOTEMPTY: ScalarFunction = ScalarFunction {
    signatures: &["isnotempty(value: any) -> bool"],
    aliases: &["notempty"],
    summary: "Whether a value is neither null nor the empty string.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example("print b = isnotempty(dynamic([]))", "b:bool\ntrue")],
    eval: Eval::Rewrite(|call| empty(call, false)),
};

fn only<'a>(call: &CallArgs<'a>) -> Result<&'a crate::Scalar, Diagnostic> {
    let first = call.args.first();
    first.ok_or_else(|| refuse(call, Code::ArgumentCount, "function expects 1 argument(s)"))
}

fn null(call: &CallArgs<'_>, expected: bool) -> Result<Expr, Diagnostic> {
    let value = only(call)?;
    Ok(match (value.kind, expected) {
        (ScalarType::String, _) => lit(!expected),
        (_, true) => value.expr.clone().is_null(),
        (_, false) => value.expr.clone().is_not_null(),
    })
}

fn empty(call: &CallArgs<'_>, expected: bool) -> Result<Expr, Diagnostic> {
    let value = only(call)?;
    let nothing = lit(ScalarValue::Utf8View(Some(String::new())));
    Ok(match (value.kind, expected) {
        (ScalarType::String, true) => value.expr.clone().eq(nothing),
        (ScalarType::String, false) => value.expr.clone().not_eq(nothing),
        (ScalarType::Dynamic, true) => call_kernel(call, &ISEMPTY_KERNEL),
        (ScalarType::Dynamic, false) => call_kernel(call, &ISNOTEMPTY_KERNEL),
        (_, true) => value.expr.clone().is_null(),
        (_, false) => value.expr.clone().is_not_null(),
    })
}

pub(super) static ISNOTEMPTY_KERNEL: InnerKernel =
    InnerKernel::new("isnotempty", |args| dynamic_empty(args, false));

pub(super) static ISEMPTY_KERNEL: InnerKernel =
    InnerKernel::new("isempty", |args| dynamic_empty(args, true));

fn dynamic_empty(args: &KernelArgs<'_>, expected: bool) -> KernelResult {
    let value = args.dynamics(0)?;
    Ok(args.collect_bools(|row| {
        let held = value.get(row).map_or(DynamicRef::NULL, DynamicRef::new);
        let empty = held.is_null() || held.as_str() == Some("");
        Some(empty == expected)
    }))
}
