//! `datetime_add`.

use hindsight_kql_syntax::Code;

use super::period::Period;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["datetime_add(part: const string, value: long, datetime: datetime) -> datetime"],
    aliases: &[],
    summary: "A datetime plus a number of years, quarters, months, weeks, days, hours, minutes, seconds or fractions \
    of a second.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print t = datetime_add('month', 1, datetime(2020-01-31 08:00))",
        "t:datetime\n2020-02-29T08:00:00Z",
    )],
    eval: Eval::Rewrite(bind),
};

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    period_argument(call)?;
    Ok(call_kernel(call, &KERNEL))
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("datetime_add", kernel);

/// Reports an error if the first argument is not the name of a period.
pub(super) fn period_argument(call: &CallArgs<'_>) -> Result<(), Diagnostic> {
    let part = constant_text(call, 0).unwrap_or_default();
    match Period::parse(&part) {
        Some(_) => Ok(()),
        None => Err(refuse(
            call,
            Code::UnknownDatePart,
            format!(
                "'{part}' is not a period; the periods are {}",
                Period::NAMES.join(", ")
            ),
        )),
    }
}

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let part = args.strings(0)?;
    let period = Period::parse(part.get(0));
    let (count, time) = (args.longs(1)?, args.longs(2)?);
    Ok(args.collect_longs(|row| period?.add(time.get(row)?, count.get(row)?)))
}
