//! `abs`.

use arrow::array::{AsArray, Decimal128Array};
use arrow::datatypes::Decimal128Type;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "abs(number: long) -> long",
        "abs(number: bool) -> long",
        "abs(number: decimal) -> decimal",
        "abs(number: real) -> real",
        "abs(number: timespan) -> timespan",
    ],
    aliases: &[],
    summary: "The absolute value of a number or a timespan.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example("print n = abs(-12)", "n:long\n12"),
        example("print t = abs(-90m)", "t:timespan\n01:30:00"),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    match args.result_kind() {
        ScalarType::Real => super::map::map(args, f64::abs),
        ScalarType::Decimal => {
            let array = args.full(0)?;
            let values: Decimal128Array = array
                .as_primitive::<Decimal128Type>()
                .unary(i128::wrapping_abs);
            Ok(Arc::new(values.with_data_type(ScalarType::Decimal.arrow())))
        }
        _ => {
            let x = args.longs(0)?;
            Ok(args.collect_longs(|row| x.get(row).map(i64::wrapping_abs)))
        }
    }
}
