//! Time zones by IANA name. The database is embedded in the program, so results do not depend on the machine.

use hindsight_kql_types::Civil;
use hindsight_kql_types::dynamic::Dynamic;
use hindsight_kql_types::ticks::{TICKS_PER_SECOND, UNIX_EPOCH_TICKS, in_range};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::functions::prelude::*;

pub(crate) static UTC_TO_LOCAL: ScalarFunction = ScalarFunction {
    signatures: &["datetime_utc_to_local(from: datetime, timezone: string) -> datetime"],
    aliases: &[],
    summary: "A UTC time converted to the local time of a time zone.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print t = datetime_utc_to_local(datetime(2022-07-01 12:00), 'Europe/Brussels')",
        "t:datetime\n2022-07-01T14:00:00Z",
    )],
    eval: Eval::Kernel(|args| convert(args, utc_to_local)),
};

pub(crate) static LOCAL_TO_UTC: ScalarFunction = ScalarFunction {
    signatures: &["datetime_local_to_utc(from: datetime, timezone: string) -> datetime"],
    aliases: &[],
    summary: "The local time of a time zone converted to UTC.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print t = datetime_local_to_utc(datetime(2022-03-27 02:00), 'Europe/Brussels')",
        "t:datetime\n2022-03-27T01:00:00Z",
    )],
    eval: Eval::Kernel(|args| convert(args, local_to_utc)),
};

pub(crate) static LIST_TIMEZONES: ScalarFunction = ScalarFunction {
    signatures: &["datetime_list_timezones() -> dynamic"],
    aliases: &[],
    summary: "The names of all time zones in byte order.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print b = datetime_list_timezones() has 'Europe/Brussels'",
        "b:bool\ntrue",
    )],
    eval: Eval::Kernel(list),
};

fn list(args: &KernelArgs<'_>) -> KernelResult {
    let mut names: Vec<String> = TimeZoneDatabase::bundled()
        .available()
        // The database's placeholder for an unset clock is not a time zone.
        .filter(|name| name.as_str() != "Factory")
        .map(|name| name.to_string())
        .collect();
    names.sort_unstable();
    let encoded = Dynamic::Array(names.into_iter().map(Dynamic::String).collect()).encode();
    Ok(args.collect_dynamics(|_, out| {
        out.extend_from_slice(&encoded);
        true
    }))
}

fn convert(args: &KernelArgs<'_>, f: fn(i64, &TimeZone) -> Option<i64>) -> KernelResult {
    let (time, name) = (args.longs(0)?, args.strings(1)?);
    let zones = TimeZoneDatabase::bundled();
    // The database caches zones, but a lookup still takes a lock, so a constant zone is looked up once per batch.
    let constant = name.is_constant().then(|| zones.get(name.get(0)).ok());
    Ok(args.collect_longs(|row| {
        let time = time.get(row)?;
        match &constant {
            Some(zone) => f(time, zone.as_ref()?),
            None => f(time, &zones.get(name.get(row)).ok()?),
        }
    }))
}

fn utc_to_local(ticks: i64, zone: &TimeZone) -> Option<i64> {
    let second = ticks.div_euclid(TICKS_PER_SECOND) - UNIX_EPOCH_TICKS / TICKS_PER_SECOND;
    let offset = zone.to_offset(Timestamp::from_second(second).ok()?);
    in_range(ticks + i64::from(offset.seconds()) * TICKS_PER_SECOND)
}

/// Converts local time to UTC. A local time that the clocks skip maps to the moment of the transition; an ambiguous one maps
/// to its later reading, which is in standard time.
fn local_to_utc(ticks: i64, zone: &TimeZone) -> Option<i64> {
    use jiff::tz::AmbiguousOffset;
    let civil = Civil::from_ticks(ticks);
    let local = DateTime::new(
        i16::try_from(civil.year).ok()?,
        i8::try_from(civil.month).ok()?,
        i8::try_from(civil.day).ok()?,
        i8::try_from(civil.hour).ok()?,
        i8::try_from(civil.minute).ok()?,
        i8::try_from(civil.second).ok()?,
        0,
    )
    .ok()?;
    let utc = |offset: jiff::tz::Offset| ticks - i64::from(offset.seconds()) * TICKS_PER_SECOND;
    in_range(match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => utc(offset),
        AmbiguousOffset::Gap { before, after } => {
            // The transition is the last moment of `before`; the two readings of the skipped time enclose it.
            let low = utc(after).min(utc(before));
            transition_after(low, zone)?
        }
        AmbiguousOffset::Fold { after, .. } => utc(after),
    })
}

/// The first transition of the zone after a UTC time.
fn transition_after(ticks: i64, zone: &TimeZone) -> Option<i64> {
    let second = ticks.div_euclid(TICKS_PER_SECOND) - UNIX_EPOCH_TICKS / TICKS_PER_SECOND;
    let from = Timestamp::from_second(second.checked_sub(1)?).ok()?;
    let next = zone.following(from).next()?.timestamp().as_second();
    Some(next * TICKS_PER_SECOND + UNIX_EPOCH_TICKS)
}
