//! `max_of` and `min_of` (`docs/semantics.md §3.3`): nulls are ignored, and the result is NaN if an argument is NaN.

use arrow::array::{AsArray, Decimal128Array};
use arrow::datatypes::Decimal128Type;
use hindsight_kql_syntax::Code;

use crate::functions::prelude::*;

pub(crate) static MAX_OF: ScalarFunction = ScalarFunction {
    signatures: &["max_of(first: common, other: common...63) -> common"],
    aliases: &[],
    summary: "The maximum of the arguments that are not null.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print n = max_of(3, long(null), 5)", "n:long\n5"),
        example("print t = max_of(1h, 90m)", "t:timespan\n01:30:00"),
    ],
    eval: Eval::Rewrite(|call| bind(call, &GREATEST)),
};

pub(crate) static MIN_OF: ScalarFunction = ScalarFunction {
    signatures: &["min_of(first: common, other: common...63) -> common"],
    aliases: &[],
    summary: "The minimum of the arguments that are not null.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example("print r = min_of(2, 1.5)", "r:real\n1.5")],
    eval: Eval::Rewrite(|call| bind(call, &LEAST)),
};

pub(super) static GREATEST: InnerKernel =
    InnerKernel::new("max_of", |args| extreme(args, Extreme::Greatest));

pub(super) static LEAST: InnerKernel =
    InnerKernel::new("min_of", |args| extreme(args, Extreme::Least));

/// Guids and dynamics have no order, and so no common type here.
fn bind(call: &CallArgs<'_>, kernel: &'static InnerKernel) -> Result<Expr, Diagnostic> {
    match call.result {
        ScalarType::Guid | ScalarType::Dynamic => Err(refuse(
            call,
            Code::NoCommonType,
            format!("the arguments are {} and have no order", call.result),
        )),
        _ => Ok(call_kernel(call, kernel)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extreme {
    Greatest,
    Least,
}

impl Extreme {
    fn of<T: PartialOrd>(self, a: T, b: T) -> T {
        let first = match self {
            Extreme::Greatest => a >= b,
            Extreme::Least => a <= b,
        };
        if first { a } else { b }
    }
}

fn extreme(args: &KernelArgs<'_>, which: Extreme) -> KernelResult {
    let columns = 0..args.len();
    match args.result_kind() {
        ScalarType::Real => {
            let columns = columns
                .map(|i| args.reals(i))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(args.collect_reals(|row| {
                let values = columns.iter().filter_map(|column| column.get(row));
                values.reduce(|a, b| match () {
                    () if a.is_nan() => a,
                    () if b.is_nan() => b,
                    () => which.of(a, b),
                })
            }))
        }
        ScalarType::Decimal => {
            let columns = columns
                .map(|i| args.full(i))
                .collect::<Result<Vec<_>, _>>()?;
            let values: Decimal128Array = (0..args.rows())
                .map(|row| {
                    let columns = columns.iter().map(|c| c.as_primitive::<Decimal128Type>());
                    let values = columns.filter(|c| c.is_valid(row)).map(|c| c.value(row));
                    values.reduce(|a, b| which.of(a, b))
                })
                .collect();
            Ok(Arc::new(values.with_data_type(ScalarType::Decimal.arrow())))
        }
        ScalarType::String => {
            let columns = columns
                .map(|i| args.strings(i))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(args.collect_strings(|row| {
                let values = columns.iter().map(|column| column.get(row));
                values.reduce(|a, b| which.of(a, b)).map(Cow::Borrowed)
            }))
        }
        ScalarType::Guid | ScalarType::Dynamic => Err(KernelError::Failed(format!(
            "values of type {} have no order",
            args.result_kind()
        ))),
        kind => {
            let columns = columns
                .map(|i| args.longs(i))
                .collect::<Result<Vec<_>, _>>()?;
            let value = |row| {
                let values = columns.iter().filter_map(|column| column.get(row));
                values.reduce(|a, b| which.of(a, b))
            };
            Ok(match kind {
                ScalarType::Bool => args.collect_bools(|row| value(row).map(|v| v != 0)),
                // All values were ints, so the results fit.
                ScalarType::Int => args.collect_ints(|row| value(row).map(|v| v as i32)),
                _ => args.collect_longs(value),
            })
        }
    }
}
