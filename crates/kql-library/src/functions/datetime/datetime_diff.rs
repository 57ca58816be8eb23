//! `datetime_diff`.

use super::datetime_add::period_argument;
use super::period::Period;
use crate::Scalar;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "datetime_diff(part: const string, datetime1: datetime, datetime2: datetime) -> long",
    ],
    aliases: &[],
    summary: "The number of period boundaries (years, months, days, …) between the second datetime and the first.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            "print n = datetime_diff('month', datetime(2020-01-31), datetime(2020-02-01))",
            "n:long\n-1",
        ),
        example(
            "print r = datetime_diff('week', datetime(2020-01-15), datetime(2020-01-01))",
            "r:real\n2.0",
        ),
    ],
    eval: Eval::Typed(bind),
};

// A count of weeks is a real, all other counts are longs.
fn bind(call: &CallArgs<'_>) -> Result<Scalar, Diagnostic> {
    period_argument(call)?;
    let weeks = constant_text(call, 0).is_some_and(|part| part.eq_ignore_ascii_case("week"));
    let kind = if weeks {
        ScalarType::Real
    } else {
        ScalarType::Long
    };
    let call = CallArgs {
        args: call.args,
        result: kind,
        span: call.span,
    };
    Ok(Scalar {
        expr: call_kernel(&call, &KERNEL),
        kind,
        constant: None,
    })
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("datetime_diff", kernel);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let part = args.strings(0)?;
    let period = Period::parse(part.get(0));
    let (to, from) = (args.longs(1)?, args.longs(2)?);
    let count = |row| Some(period?.boundaries(to.get(row)?, from.get(row)?));
    Ok(match args.result_kind() {
        ScalarType::Real => args.collect_reals(|row| count(row).map(|n| n as f64)),
        _ => args.collect_longs(count),
    })
}
