//! `make_datetime` and `make_timespan` (`docs/semantics.md §10.6`).

use hindsight_kql_types::Civil;
use hindsight_kql_types::ticks::{
    TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND,
};

use crate::functions::prelude::*;

pub(crate) static MAKE_DATETIME: ScalarFunction = ScalarFunction {
    signatures: &[
        "make_datetime(year: number, month: number, day: number, [hour: number], [minute: number], [second: real]) -> datetime",
    ],
    aliases: &[],
    summary: "The datetime with these parts; null if a part is out of range.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            "print t = make_datetime(2021, 3, 4, 5, 6, 7.5)",
            "t:datetime\n2021-03-04T05:06:07.5Z",
        ),
        example("print t = make_datetime(2021, 2, 30)", "t:datetime\nnull"),
    ],
    eval: Eval::Kernel(make_datetime),
};

pub(crate) static MAKE_TIMESPAN: ScalarFunction = ScalarFunction {
    signatures: &[
        "make_timespan(hours: long, minutes: long) -> timespan",
        "make_timespan(hours: long, minutes: long, seconds: real) -> timespan",
        "make_timespan(days: long, hours: long, minutes: long, seconds: real) -> timespan",
    ],
    aliases: &[],
    summary: "The timespan with these parts; null if a part is out of range.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example(
            "print t = make_timespan(3, 4, 5, 6.25)",
            "t:timespan\n3.04:05:06.2500000",
        ),
        example("print t = make_timespan(25, 0)", "t:timespan\nnull"),
    ],
    eval: Eval::Kernel(make_timespan),
};

fn make_datetime(args: &KernelArgs<'_>) -> KernelResult {
    let whole = (0..args.len().min(5))
        .map(|i| args.longs(i))
        .collect::<Result<Vec<_>, _>>()?;
    let seconds = if args.len() > 5 {
        Some(args.reals(5)?)
    } else {
        None
    };
    let part = |index: usize, row: usize| match whole.get(index) {
        Some(column) => u32::try_from(column.get(row)?).ok(),
        None => Some(0),
    };
    Ok(args.collect_longs(|row| {
        let mut civil = Civil::date(
            i32::try_from(part(0, row)?).ok()?,
            part(1, row)?,
            part(2, row)?,
        );
        (civil.hour, civil.minute) = (part(3, row)?, part(4, row)?);
        let ticks = match &seconds {
            Some(seconds) => seconds_to_ticks(seconds.get(row)?)?,
            None => 0,
        };
        Some(civil.to_ticks()? + ticks)
    }))
}

fn make_timespan(args: &KernelArgs<'_>) -> KernelResult {
    let columns = args.len();
    let first = if columns == 4 { 1 } else { 0 };
    let days = if columns == 4 {
        Some(args.longs(0)?)
    } else {
        None
    };
    let (hours, minutes) = (args.longs(first)?, args.longs(first + 1)?);
    let seconds = if columns > 2 {
        Some(args.reals(first + 2)?)
    } else {
        None
    };
    Ok(args.collect_longs(|row| {
        let days = match &days {
            Some(days) => days.get(row).filter(|days| *days >= 0)?,
            None => 0,
        };
        let hours = hours.get(row).filter(|h| (0..24).contains(h))?;
        let minutes = minutes.get(row).filter(|m| (0..60).contains(m))?;
        let seconds = match &seconds {
            Some(seconds) => seconds_to_ticks(seconds.get(row)?)?,
            None => 0,
        };
        days.checked_mul(TICKS_PER_DAY)?
            .checked_add(hours * TICKS_PER_HOUR + minutes * TICKS_PER_MINUTE + seconds)
    }))
}

/// The seconds of a minute in ticks, rounded to the nearest tick; `None` outside 0 to 60.
fn seconds_to_ticks(seconds: f64) -> Option<i64> {
    let ticks = (seconds * TICKS_PER_SECOND as f64).round();
    ((0.0..60.0).contains(&seconds) && ticks < TICKS_PER_MINUTE as f64).then_some(ticks as i64)
}
