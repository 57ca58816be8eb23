//! `startof*` and `endof*` (`docs/semantics.md §10.4`): weeks start on Sunday, and a period ends one tick before the next.

use hindsight_kql_types::Civil;
use hindsight_kql_types::datetime::ticks_of_date;
use hindsight_kql_types::ticks::{MAX_DATETIME_TICKS, TICKS_PER_DAY, in_range};

use super::period::{TICKS_PER_WEEK, add_months};
use crate::functions::prelude::*;

macro_rules! signature {
    ($name:literal) => {
        &[concat!(
            $name,
            "(date: datetime, [offset: long]) -> datetime"
        )]
    };
}

pub(crate) static STARTOFDAY: ScalarFunction = function(
    signature!("startofday"),
    "The start of the day, offset by a number of days.",
    ResultName::FirstArgument,
    &[example(
        "print t = startofday(datetime(2020-08-12 13:14), -1)",
        "t:datetime\n2020-08-11T00:00:00Z",
    )],
    |args| start(args, day),
);

pub(crate) static STARTOFWEEK: ScalarFunction = function(
    signature!("startofweek"),
    "The start of the week's Sunday, offset by a number of weeks.",
    ResultName::None,
    &[example(
        "print t = startofweek(datetime(2020-08-12))",
        "t:datetime\n2020-08-09T00:00:00Z",
    )],
    |args| start(args, week),
);

pub(crate) static STARTOFMONTH: ScalarFunction = function(
    signature!("startofmonth"),
    "The start of the month, offset by a number of months.",
    ResultName::None,
    &[example(
        "print t = startofmonth(datetime(2020-08-12), 1)",
        "t:datetime\n2020-09-01T00:00:00Z",
    )],
    |args| start(args, month),
);

pub(crate) static STARTOFYEAR: ScalarFunction = function(
    signature!("startofyear"),
    "The start of the year, offset by a number of years.",
    ResultName::None,
    &[example(
        "print t = startofyear(datetime(2020-08-12))",
        "t:datetime\n2020-01-01T00:00:00Z",
    )],
    |args| start(args, year),
);

pub(crate) static ENDOFDAY: ScalarFunction = function(
    signature!("endofday"),
    "The last tick of the day, offset by a number of days.",
    ResultName::None,
    &[example(
        "print t = endofday(datetime(2020-08-12 13:14))",
        "t:datetime\n2020-08-12T23:59:59.9999999Z",
    )],
    |args| end(args, day),
);

pub(crate) static ENDOFWEEK: ScalarFunction = function(
    signature!("endofweek"),
    "The last tick of the week's Saturday, offset by a number of weeks.",
    ResultName::None,
    &[example(
        "print t = endofweek(datetime(2020-08-12))",
        "t:datetime\n2020-08-15T23:59:59.9999999Z",
    )],
    |args| end(args, week),
);

pub(crate) static ENDOFMONTH: ScalarFunction = function(
    signature!("endofmonth"),
    "The last tick of the month, offset by a number of months.",
    ResultName::None,
    &[example(
        "print t = endofmonth(datetime(2020-02-12))",
        "t:datetime\n2020-02-29T23:59:59.9999999Z",
    )],
    |args| end(args, month),
);

pub(crate) static ENDOFYEAR: ScalarFunction = function(
    signature!("endofyear"),
    "The last tick of the year, offset by a number of years.",
    ResultName::None,
    &[example(
        "print t = endofyear(datetime(2020-08-12), -1)",
        "t:datetime\n2019-12-31T23:59:59.9999999Z",
    )],
    |args| end(args, year),
);

/// Returns the start of the period at an offset from the one that contains a datetime; the result may be one tick past the
/// calendar.
type PeriodStart = fn(i64, i64) -> Option<i64>;

fn start(args: &KernelArgs<'_>, period_start: PeriodStart) -> KernelResult {
    map(args, |time, offset| in_range(period_start(time, offset)?))
}

fn end(args: &KernelArgs<'_>, period_start: PeriodStart) -> KernelResult {
    map(args, |time, offset| {
        in_range(period_start(time, offset.checked_add(1)?)? - 1)
    })
}

fn map(args: &KernelArgs<'_>, f: impl Fn(i64, i64) -> Option<i64>) -> KernelResult {
    let time = args.longs(0)?;
    let offset = if args.len() > 1 {
        Some(args.longs(1)?)
    } else {
        None
    };
    Ok(args.collect_longs(|row| {
        let offset = match &offset {
            Some(offset) => offset.get(row)?,
            None => 0,
        };
        f(time.get(row)?, offset)
    }))
}

fn day(time: i64, offset: i64) -> Option<i64> {
    (time - time % TICKS_PER_DAY).checked_add(offset.checked_mul(TICKS_PER_DAY)?)
}

fn week(time: i64, offset: i64) -> Option<i64> {
    // Year one began on a Monday, so weeks are counted from the day before.
    let since_sunday = (time + TICKS_PER_DAY) % TICKS_PER_WEEK;
    (time - since_sunday).checked_add(offset.checked_mul(TICKS_PER_WEEK)?)
}

fn month(time: i64, offset: i64) -> Option<i64> {
    let civil = Civil::from_ticks(time);
    shift(ticks_of_date(civil.year, civil.month, 1)?, offset)
}

fn year(time: i64, offset: i64) -> Option<i64> {
    shift(
        ticks_of_date(Civil::from_ticks(time).year, 1, 1)?,
        offset.checked_mul(12)?,
    )
}

/// The first day of a month moved by a number of months; the first day of the year 10000 ends the calendar.
fn shift(first: i64, months: i64) -> Option<i64> {
    add_months(first, months).or_else(|| {
        let last_month = add_months(first, months.checked_sub(1)?)?;
        (last_month > MAX_DATETIME_TICKS - 31 * TICKS_PER_DAY).then_some(MAX_DATETIME_TICKS + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_outside_the_calendar_are_null() {
        assert_eq!(month(MAX_DATETIME_TICKS, 1), Some(MAX_DATETIME_TICKS + 1));
        assert_eq!(year(MAX_DATETIME_TICKS, 1), Some(MAX_DATETIME_TICKS + 1));
        assert_eq!(month(MAX_DATETIME_TICKS, 2), None);
        assert_eq!(month(0, -1), None);
        assert_eq!(week(0, 0), Some(-TICKS_PER_DAY));
    }
}
