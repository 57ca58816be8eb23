//! Ticks of 100 ns, the unit of every datetime and timespan (`docs/semantics.md §2`).
//!
//! A datetime counts ticks since 0001-01-01T00:00:00Z, a timespan is a signed number of ticks.

/// Ticks in one microsecond.
pub const TICKS_PER_MICROSECOND: i64 = 10;
/// Ticks in one millisecond.
pub const TICKS_PER_MILLISECOND: i64 = 10_000;
/// Ticks in one second.
pub const TICKS_PER_SECOND: i64 = 10_000_000;
/// Ticks in one minute.
pub const TICKS_PER_MINUTE: i64 = 60 * TICKS_PER_SECOND;
/// Ticks in one hour.
pub const TICKS_PER_HOUR: i64 = 60 * TICKS_PER_MINUTE;
/// Ticks in one day.
pub const TICKS_PER_DAY: i64 = 24 * TICKS_PER_HOUR;

/// The greatest datetime: 9999-12-31T23:59:59.9999999Z. The least is 0.
pub const MAX_DATETIME_TICKS: i64 = 3_155_378_975_999_999_999;
/// 1970-01-01T00:00:00Z.
pub const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;

const NANOS_PER_TICK: i64 = 100;

/// `ticks` if it is a datetime of the years 1 to 9999.
pub fn in_range(ticks: i64) -> Option<i64> {
    (0..=MAX_DATETIME_TICKS).contains(&ticks).then_some(ticks)
}

/// The datetime `nanos` nanoseconds after 1970-01-01. The result is rounded down to a tick.
pub fn from_unix_nanos(nanos: i64) -> i64 {
    // An i64 of nanoseconds spans 1677 to 2262, so the sum always fits.
    UNIX_EPOCH_TICKS + nanos.div_euclid(NANOS_PER_TICK)
}

/// The datetime `millis` milliseconds after 1970-01-01, or `None` outside the years 1 to 9999.
pub fn from_unix_millis(millis: i64) -> Option<i64> {
    let ticks = millis.checked_mul(TICKS_PER_MILLISECOND)?;
    in_range(ticks.checked_add(UNIX_EPOCH_TICKS)?)
}

/// Nanoseconds since 1970-01-01, or `None` outside the years 1677 to 2262.
pub fn to_unix_nanos(ticks: i64) -> Option<i64> {
    ticks
        .checked_sub(UNIX_EPOCH_TICKS)?
        .checked_mul(NANOS_PER_TICK)
}

/// Milliseconds since 1970-01-01. The result is rounded down.
pub fn to_unix_millis(ticks: i64) -> i64 {
    ticks
        .saturating_sub(UNIX_EPOCH_TICKS)
        .div_euclid(TICKS_PER_MILLISECOND)
}
