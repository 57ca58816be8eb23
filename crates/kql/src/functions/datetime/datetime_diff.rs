//! `datetime_diff`.

use super::datetime_add::period_argument;
use super::period::Period;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["datetime_diff(part: const string, datetime1: datetime, datetime2: datetime) -> long"],
    aliases: &[],
    summary: "How many boundaries of years, months, days, … lie from the second datetime to the first.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            "print n = datetime_diff('month', datetime(2020-01-31), datetime(2020-02-01))",
            "n:long\n-1",
        ),
    ],
    eval: Eval::Rewrite(bind),
};

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    period_argument(call)?;
    Ok(call_kernel(call, "datetime_diff", kernel))
}

fn kernel(args: &KernelArgs<'_>) -> Answer {
    let part = args.strings(0)?;
    let period = Period::parse(part.get(0));
    let (to, from) = (args.longs(1)?, args.longs(2)?);
    Ok(args.collect_longs(|row| Some(period?.boundaries(to.get(row)?, from.get(row)?))))
}
