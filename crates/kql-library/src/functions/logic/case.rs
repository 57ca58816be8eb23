//! `iff` and `case` select the first branch whose condition is true; a null condition does not hold.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::lit;

use hindsight_kql_syntax::Code;

use crate::Scalar;
use crate::convert::convert;
use crate::functions::prelude::*;

pub(crate) static IFF: ScalarFunction = ScalarFunction {
    signatures: &["iff(if: bool, then: any, else: any) -> dynamic"],
    aliases: &["iif"],
    summary: "The second argument if the condition is true, else the third.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print s = iff(2 > 1, 'more', 'less')", "s:string\nmore"),
        example("print n = iff(bool(null), 1, 2)", "n:long\n2"),
    ],
    eval: Eval::Typed(bind),
};

pub(crate) static CASE: ScalarFunction = ScalarFunction {
    signatures: &["case(predicate: bool, then: any, predicate_then_else: any...) -> dynamic"],
    aliases: &[],
    summary: "The value that follows the first true condition, else the last argument.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = case(1 > 2, 'a', bool(null), 'b', 2 > 1, 'c', 'd')",
        "s:string\nc",
    )],
    eval: Eval::Typed(bind),
};

fn bind(call: &CallArgs<'_>) -> Result<Scalar, Diagnostic> {
    let Some((otherwise, pairs)) = call.args.split_last() else {
        return Err(refuse(
            call,
            Code::ArgumentCount,
            "case(): function expects 3 or more arguments",
        ));
    };
    if pairs.is_empty() || pairs.len() % 2 != 0 {
        return Err(refuse(
            call,
            Code::ArgumentCount,
            "case(): function expects an odd number of arguments",
        ));
    }
    let branches = || {
        pairs
            .chunks_exact(2)
            .filter_map(|pair| pair.last())
            .chain([otherwise])
    };
    let kind = branches().try_fold(None, |kind, branch| common(call, kind, branch))?;
    let kind = kind.unwrap_or(otherwise.kind);
    let mut when_then_expr = Vec::with_capacity(pairs.len() / 2);
    for pair in pairs.chunks_exact(2) {
        if let [condition, value] = pair {
            let condition = condition_of(call, condition)?;
            when_then_expr.push((Box::new(condition), Box::new(converted(call, value, kind)?)));
        }
    }
    let else_expr = Some(Box::new(converted(call, otherwise, kind)?));
    let is_volatile = when_then_expr.iter().any(|(when, _)| when.is_volatile());
    let expr = Expr::Case(Case {
        expr: None,
        when_then_expr,
        else_expr,
    });
    let expr = if is_volatile {
        // DataFusion 55.2 evaluates the condition to infer nullability, and so would rely on one draw of a volatile
        // condition.
        kernel_call(&CASE_KERNEL, vec![expr], vec![kind], kind)
    } else {
        expr
    };
    Ok(Scalar {
        expr,
        kind,
        constant: None,
    })
}

pub(super) static CASE_KERNEL: InnerKernel = InnerKernel::new("$either", |args| args.full(0));

fn condition_of(call: &CallArgs<'_>, condition: &Scalar) -> Result<Expr, Diagnostic> {
    match condition.kind {
        ScalarType::Bool => Ok(condition.expr.clone()),
        other => Err(refuse(
            call,
            Code::ArgumentType,
            format!("a condition is {other} and must be bool"),
        )),
    }
}

/// The common type of the previous branches and one more; a literal null has no type.
fn common(
    call: &CallArgs<'_>,
    kind: Option<ScalarType>,
    branch: &Scalar,
) -> Result<Option<ScalarType>, Diagnostic> {
    let integer = ScalarType::is_integer;
    match (kind, branch.kind) {
        _ if is_null(branch) => Ok(kind),
        (None, new) => Ok(Some(new)),
        (Some(old), new) if old == new => Ok(Some(old)),
        // A dynamic is converted to the type of the other branches.
        (Some(ScalarType::Dynamic), kind) | (Some(kind), ScalarType::Dynamic) => Ok(Some(kind)),
        (Some(old), new) if integer(old) && integer(new) => Ok(Some(ScalarType::Long)),
        (Some(old), new) => Err(refuse(
            call,
            Code::NoCommonType,
            format!("the branches are {old} and {new} and must have the same type"),
        )),
    }
}

fn is_null(branch: &Scalar) -> bool {
    matches!(branch.constant, Some(Value::Null(_)))
}

fn converted(call: &CallArgs<'_>, branch: &Scalar, kind: ScalarType) -> Result<Expr, Diagnostic> {
    if branch.kind == kind {
        return Ok(branch.expr.clone());
    }
    if is_null(branch) {
        return match kind {
            ScalarType::String => Ok(lit(ScalarValue::Utf8View(Some(String::new())))),
            kind => ScalarValue::try_from(&kind.arrow())
                .map(lit)
                .map_err(|error| refuse(call, Code::Semantics, error.to_string())),
        };
    }
    Ok(convert(branch.clone(), kind).expr)
}
