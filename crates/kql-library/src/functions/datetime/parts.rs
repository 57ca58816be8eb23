//! Calendar parts of a datetime (`docs/semantics.md §10.3`): all `long`, except the day of the week, which is a timespan.

use hindsight_kql_types::Civil;
use hindsight_kql_types::datetime::{day_of_week, day_of_year};
use hindsight_kql_types::ticks::{MAX_DATETIME_TICKS, TICKS_PER_DAY};

use crate::functions::prelude::*;

pub(crate) static GETYEAR: ScalarFunction = function(
    &["getyear(date: datetime) -> long"],
    "The year.",
    ResultName::None,
    &[example(
        "print n = getyear(datetime(2020-08-09))",
        "n:long\n2020",
    )],
    |args| civil(args, |c| i64::from(c.year)),
);

pub(crate) static MONTHOFYEAR: ScalarFunction = function(
    &["monthofyear(date: datetime) -> long"],
    "The month, 1 to 12.",
    ResultName::None,
    &[example(
        "print n = monthofyear(datetime(2020-08-09))",
        "n:long\n8",
    )],
    |args| civil(args, |c| i64::from(c.month)),
)
.with_aliases(&["getmonth"]);

pub(crate) static HOUROFDAY: ScalarFunction = function(
    &["hourofday(date: datetime) -> long"],
    "The hour, 0 to 23.",
    ResultName::None,
    &[example(
        "print n = hourofday(datetime(2020-08-09 13:30))",
        "n:long\n13",
    )],
    |args| civil(args, |c| i64::from(c.hour)),
);

pub(crate) static DAYOFMONTH: ScalarFunction = function(
    &["dayofmonth(date: datetime) -> long"],
    "The day of the month, 1 to 31.",
    ResultName::None,
    &[example(
        "print n = dayofmonth(datetime(2020-08-09))",
        "n:long\n9",
    )],
    |args| civil(args, |c| i64::from(c.day)),
);

pub(crate) static DAYOFYEAR: ScalarFunction = function(
    &["dayofyear(date: datetime) -> long"],
    "The day of the year, 1 to 366.",
    ResultName::None,
    &[example(
        "print n = dayofyear(datetime(2020-12-31))",
        "n:long\n366",
    )],
    |args| map(args, |ticks| Some(i64::from(day_of_year(ticks)))),
);

// The last day of the calendar has no day of the week, as measured.
pub(crate) static DAYOFWEEK: ScalarFunction = function(
    &["dayofweek(date: datetime) -> timespan"],
    "The days since Sunday, as a timespan.",
    ResultName::None,
    &[example(
        "print t = dayofweek(datetime(2020-08-12))",
        "t:timespan\n3.00:00:00",
    )],
    |args| {
        map(args, |ticks| {
            (ticks <= MAX_DATETIME_TICKS - TICKS_PER_DAY)
                .then(|| i64::from(day_of_week(ticks)) * TICKS_PER_DAY)
        })
    },
);

pub(crate) static WEEK_OF_YEAR: ScalarFunction = function(
    &["week_of_year(date: datetime) -> long"],
    "The ISO 8601 week number.",
    ResultName::None,
    &[example(
        "print n = week_of_year(datetime(2016-01-01))",
        "n:long\n53",
    )],
    |args| map(args, |ticks| Some(iso_week(ticks))),
)
.with_aliases(&["weekofyear"]);

fn map(args: &KernelArgs<'_>, f: impl Fn(i64) -> Option<i64>) -> KernelResult {
    let time = args.longs(0)?;
    Ok(args.collect_longs(|row| f(time.get(row)?)))
}

fn civil(args: &KernelArgs<'_>, f: impl Fn(&Civil) -> i64) -> KernelResult {
    map(args, |ticks| Some(f(&Civil::from_ticks(ticks))))
}

/// The ISO 8601 week number: a week belongs to the year that contains its Thursday.
pub(super) fn iso_week(ticks: i64) -> i64 {
    let since_monday = (i64::from(day_of_week(ticks)) + 6) % 7;
    let thursday = ticks + (3 - since_monday) * TICKS_PER_DAY;
    i64::from(day_of_year(thursday) + 6) / 7
}

#[cfg(test)]
mod tests {
    use super::iso_week;

    #[test]
    fn weeks_follow_iso_8601() {
        let check = |date: &str, week: i64| {
            assert_eq!(
                hindsight_kql_types::datetime::parse(date).map(iso_week),
                Some(week),
                "{date}"
            );
        };
        check("2016-01-01", 53);
        check("2018-12-31", 1);
        check("2021-01-03", 53);
        check("2021-12-26", 51);
        check("2023-01-01", 52);
        check("9999-12-31", 52);
        check("0001-01-01", 1);
    }
}
