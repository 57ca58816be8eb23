//! `toint` and `tolong` (`docs/semantics.md §8.1`).

use hindsight_kql_types::{convert, parse_int, parse_long};

use super::source::{From, Source};
use crate::Scalar;
use crate::functions::prelude::*;

pub(crate) static TOINT: ScalarFunction = ScalarFunction {
    signatures: &["toint(value: any) -> int"],
    aliases: &[],
    summary: "The value as a 32-bit integer: reals are truncated, longs wrap, text that is not an integer is null.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example("print n = toint('  -7 ')", "n:int\n-7"),
        example("print n = toint(2.9)", "n:int\n2"),
        example("print n = toint('5.7')", "n:int\nnull"),
    ],
    eval: Eval::Rewrite(|call| {
        Ok(match constant_real(call) {
            Some(real) => constant(convert::int_from_constant_real(real).map(Value::Int), call),
            None => call_kernel(call, &TOINT_KERNEL),
        })
    }),
};

pub(super) static TOINT_KERNEL: InnerKernel = InnerKernel::new("toint", |args| {
    let source = Source::open(args)?;
    Ok(args.collect_ints(|row| int(source.get(row)?)))
});

pub(crate) static TOLONG: ScalarFunction = ScalarFunction {
    signatures: &["tolong(value: any) -> long"],
    aliases: &[],
    summary: "The value as a 64-bit integer: reals are truncated, datetimes and timespans become ticks.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example("print n = tolong('0x1F')", "n:long\n31"),
        example("print n = tolong(2s)", "n:long\n20000000"),
    ],
    eval: Eval::Rewrite(|call| {
        Ok(match constant_real(call) {
            Some(real) => constant(
                convert::long_from_constant_real(real).map(Value::Long),
                call,
            ),
            None => call_kernel(call, &TOLONG_KERNEL),
        })
    }),
};

pub(super) static TOLONG_KERNEL: InnerKernel = InnerKernel::new("tolong", |args| {
    let source = Source::open(args)?;
    Ok(args.collect_longs(|row| long(source.get(row)?)))
});

/// The argument, if it is a constant real: the constant folder converts those beyond the range differently from rows.
fn constant_real(call: &CallArgs<'_>) -> Option<f64> {
    match call.args.first()?.constant {
        Some(Value::Real(value)) => Some(value),
        _ => None,
    }
}

fn constant(value: Option<Value>, call: &CallArgs<'_>) -> Expr {
    Scalar::constant(value.unwrap_or_else(|| Value::null(call.result))).expr
}

fn int(value: From<'_>) -> Option<i32> {
    match value {
        From::Bool(value) => Some(i32::from(value)),
        From::Long(value) => Some(convert::int_from_long(value)),
        From::Real(value) => convert::int_from_real(value),
        From::Decimal(value) => convert::int_from_decimal(value),
        From::Text(text) => parse_int(text),
        From::Dynamic(value) => value.to_int(),
    }
}

fn long(value: From<'_>) -> Option<i64> {
    match value {
        From::Bool(value) => Some(i64::from(value)),
        From::Long(value) => Some(value),
        From::Real(value) => convert::long_from_real(value),
        From::Decimal(value) => convert::long_from_decimal(value),
        From::Text(text) => parse_long(text),
        From::Dynamic(value) => value.to_long(),
    }
}
