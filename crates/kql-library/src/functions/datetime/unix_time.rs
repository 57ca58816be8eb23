//! `unixtime_*_todatetime`.

use hindsight_kql_types::ticks::{UNIX_EPOCH_TICKS, in_range};

use crate::functions::prelude::*;

macro_rules! signatures {
    ($unit:literal) => {
        &[
            concat!("unixtime_", $unit, "_todatetime(number: long) -> datetime"),
            concat!("unixtime_", $unit, "_todatetime(number: real) -> datetime"),
        ]
    };
}

pub(crate) static SECONDS: ScalarFunction = function(
    signatures!("seconds"),
    "The datetime at a number of seconds since the Unix epoch.",
    ResultName::None,
    &[example(
        "print t = unixtime_seconds_todatetime(86400)",
        "t:datetime\n1970-01-02T00:00:00Z",
    )],
    |args| since_epoch(args, 1_000_000_000),
);

pub(crate) static MILLISECONDS: ScalarFunction = function(
    signatures!("milliseconds"),
    "The datetime at a number of milliseconds since the Unix epoch.",
    ResultName::None,
    &[example(
        "print t = unixtime_milliseconds_todatetime(1500)",
        "t:datetime\n1970-01-01T00:00:01.5Z",
    )],
    |args| since_epoch(args, 1_000_000),
);

pub(crate) static MICROSECONDS: ScalarFunction = function(
    signatures!("microseconds"),
    "The datetime at a number of microseconds since the Unix epoch.",
    ResultName::None,
    &[example(
        "print t = unixtime_microseconds_todatetime(-1)",
        "t:datetime\n1969-12-31T23:59:59.999999Z",
    )],
    |args| since_epoch(args, 1_000),
);

pub(crate) static NANOSECONDS: ScalarFunction = function(
    signatures!("nanoseconds"),
    "The datetime at a number of nanoseconds since the Unix epoch.",
    ResultName::None,
    &[example(
        "print t = unixtime_nanoseconds_todatetime(2500)",
        "t:datetime\n1970-01-01T00:00:00.0000025Z",
    )],
    |args| since_epoch(args, 1),
);

const NANOS_PER_TICK: i64 = 100;

fn since_epoch(args: &KernelArgs<'_>, nanos: i64) -> KernelResult {
    if args.kind(0) == ScalarType::Real {
        let number = args.reals(0)?;
        let ticks_per_unit = nanos as f64 / NANOS_PER_TICK as f64;
        return Ok(args.collect_longs(|row| {
            let ticks = number.get(row)? * ticks_per_unit;
            let ticks = ticks.is_finite().then_some(ticks as i64)?;
            in_range(ticks.checked_add(UNIX_EPOCH_TICKS)?)
        }));
    }
    let number = args.longs(0)?;
    Ok(args.collect_longs(|row| {
        let ticks = i128::from(number.get(row)?) * i128::from(nanos) / i128::from(NANOS_PER_TICK);
        in_range(i64::try_from(ticks + i128::from(UNIX_EPOCH_TICKS)).ok()?)
    }))
}
