//! Dates of the proleptic Gregorian calendar as ticks, and back.

use std::fmt;

use super::{TICKS_PER_DAY, TICKS_PER_SECOND};

/// A date and time of day, not yet checked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    /// 100 ns.
    pub(super) ticks: i64,
}

impl Civil {
    /// Ticks since 0001-01-01, or nothing where a part is out of range.
    pub(super) fn to_ticks(self) -> Option<i64> {
        let valid = (1..=9999).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
            && (0..24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..60).contains(&self.second);
        if !valid {
            return None;
        }
        let seconds = (self.hour * 60 + self.minute) * 60 + self.second;
        Some(
            days_before(self.year, self.month, self.day) * TICKS_PER_DAY
                + seconds * TICKS_PER_SECOND
                + self.ticks,
        )
    }
}

fn is_leap(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the date.
fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let past = year - 1;
    let months: i64 = (1..month).map(|m| days_in_month(year, m)).sum();
    past * 365 + past / 4 - past / 100 + past / 400 + months + day - 1
}

/// Writes `datetime(2020-01-02T03:04:05.1234567Z)`, leaving out a time of day that is zero.
pub(crate) fn write_datetime(f: &mut fmt::Formatter<'_>, ticks: i64) -> fmt::Result {
    let (days, rest) = (
        ticks.div_euclid(TICKS_PER_DAY),
        ticks.rem_euclid(TICKS_PER_DAY),
    );
    let mut year = (days / 366 + 1).max(1);
    while days_before(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 1;
    while month < 12 && days_before(year, month + 1, 1) <= days {
        month += 1;
    }
    let day = days - days_before(year, month, 1) + 1;
    write!(f, "datetime({year:04}-{month:02}-{day:02}")?;
    if rest != 0 {
        let seconds = rest / TICKS_PER_SECOND;
        write!(
            f,
            "T{:02}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )?;
        if rest % TICKS_PER_SECOND != 0 {
            write!(f, ".{:07}", rest % TICKS_PER_SECOND)?;
        }
        f.write_str("Z")?;
    }
    f.write_str(")")
}
