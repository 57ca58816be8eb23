//! `datetime_part`.

use hindsight_kql_syntax::Code;
use hindsight_kql_types::Civil;
use hindsight_kql_types::datetime::day_of_year;

use super::parts::iso_week;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["datetime_part(part: const string, date: datetime) -> long"],
    aliases: &["datepart"],
    summary: "A calendar part of a datetime as a number; fractions of a second are counted from the full second.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            "print n = datetime_part('quarter', datetime(2020-08-09))",
            "n:long\n3",
        ),
        example(
            "print n = datetime_part('Microsecond', datetime(2020-08-09 01:02:03.4567))",
            "n:long\n456700",
        ),
    ],
    eval: Eval::Rewrite(bind),
};

/// Extracts one part as a number from a decomposed datetime, whose ticks are the second argument.
type Part = fn(&Civil, i64) -> i64;

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    let part = constant_text(call, 0).unwrap_or_default();
    match parse(&part) {
        Some(_) => Ok(call_kernel(call, &KERNEL)),
        None => Err(refuse(
            call,
            Code::UnknownDatePart,
            format!(
                "'{part}' is not a part of a datetime; the parts are {}",
                PARTS.join(", ")
            ),
        )),
    }
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("datetime_part", kernel);

/// The names that [`parse`] knows, for messages.
const PARTS: [&str; 12] = [
    "year",
    "quarter",
    "month",
    "week_of_year",
    "day",
    "dayofyear",
    "hour",
    "minute",
    "second",
    "millisecond",
    "microsecond",
    "nanosecond",
];

fn parse(name: &str) -> Option<Part> {
    Some(match name.to_ascii_lowercase().as_str() {
        "year" => |c, _| i64::from(c.year),
        "quarter" => |c, _| i64::from(c.month.saturating_sub(1) / 3 + 1),
        "month" => |c, _| i64::from(c.month),
        "week_of_year" => |_, ticks| iso_week(ticks),
        "day" => |c, _| i64::from(c.day),
        "dayofyear" => |_, ticks| i64::from(day_of_year(ticks)),
        "hour" => |c, _| i64::from(c.hour),
        "minute" => |c, _| i64::from(c.minute),
        "second" => |c, _| i64::from(c.second),
        "millisecond" => |c, _| i64::from(c.tick_of_second / 10_000),
        "microsecond" => |c, _| i64::from(c.tick_of_second / 10),
        "nanosecond" => |c, _| i64::from(c.tick_of_second) * 100,
        _ => return None,
    })
}

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let name = args.strings(0)?;
    let part = parse(name.get(0));
    let time = args.longs(1)?;
    Ok(args.collect_longs(|row| {
        let ticks = time.get(row)?;
        Some(part?(&Civil::from_ticks(ticks), ticks))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_part_is_known() {
        assert!(PARTS.iter().all(|name| parse(name).is_some()));
    }
}
