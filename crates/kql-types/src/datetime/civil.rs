//! The proleptic Gregorian calendar over ticks.

use crate::ticks::{
    MAX_DATETIME_TICKS, TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND,
};

/// Days from 0000-03-01, the origin of the civil algorithm, to 0001-01-01, the origin of ticks.
const DAYS_TO_YEAR_ONE: i64 = 306;
const DAYS_PER_ERA: i64 = 146_097;

/// The calendar parts of a datetime, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Civil {
    /// 1 to 9999 for every valid datetime.
    pub year: i32,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 to 9,999,999: the fraction of the second, in ticks of 100 ns.
    pub tick_of_second: u32,
}

impl Civil {
    /// The calendar parts of `ticks`. A tick count outside the datetime range has a year outside 1 to 9999.
    pub fn from_ticks(ticks: i64) -> Civil {
        let (year, month, day) = date_of_days(ticks.div_euclid(TICKS_PER_DAY));
        let rest = ticks.rem_euclid(TICKS_PER_DAY);
        Civil {
            year: year as i32,
            month: month as u32,
            day: day as u32,
            hour: (rest / TICKS_PER_HOUR) as u32,
            minute: (rest % TICKS_PER_HOUR / TICKS_PER_MINUTE) as u32,
            second: (rest % TICKS_PER_MINUTE / TICKS_PER_SECOND) as u32,
            tick_of_second: (rest % TICKS_PER_SECOND) as u32,
        }
    }

    /// Midnight of a date. [`Civil::to_ticks`] validates it.
    pub fn date(year: i32, month: u32, day: u32) -> Civil {
        Civil {
            year,
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            tick_of_second: 0,
        }
    }

    /// The tick count, or `None` if a part is out of range (month 13, February 30, hour 24, year 10000).
    pub fn to_ticks(self) -> Option<i64> {
        let clock_fits = self.hour < 24
            && self.minute < 60
            && self.second < 60
            && i64::from(self.tick_of_second) < TICKS_PER_SECOND;
        if !clock_fits {
            return None;
        }
        let clock = i64::from(self.hour) * TICKS_PER_HOUR
            + i64::from(self.minute) * TICKS_PER_MINUTE
            + i64::from(self.second) * TICKS_PER_SECOND
            + i64::from(self.tick_of_second);
        Some(ticks_of_date(self.year, self.month, self.day)? + clock)
    }
}

/// Midnight of a date in ticks, or `None` if there is no such date in the years 1 to 9999.
pub fn ticks_of_date(year: i32, month: u32, day: u32) -> Option<i64> {
    let valid = (1..=9999).contains(&year) && day >= 1 && day <= days_in_month(year, month);
    let ticks = valid.then(|| days_of_date(year, month, day) * TICKS_PER_DAY)?;
    (ticks <= MAX_DATETIME_TICKS).then_some(ticks)
}

/// Whether `year` has a February 29.
pub fn is_leap_year(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The number of days of a month; 0 if `month` is not 1 to 12.
pub fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap_year(year) => 29,
        2 => 28,
        _ => 0,
    }
}

/// The day of the week of a datetime: 0 is Sunday, 6 is Saturday.
pub fn day_of_week(ticks: i64) -> u32 {
    // 0001-01-01 was a Monday.
    (ticks.div_euclid(TICKS_PER_DAY) + 1).rem_euclid(7) as u32
}

/// The day of the year of a datetime: 1 to 366.
pub fn day_of_year(ticks: i64) -> u32 {
    let day = ticks.div_euclid(TICKS_PER_DAY);
    let (year, _, _) = date_of_days(day);
    (day - days_of_date(year as i32, 1, 1) + 1) as u32
}

/// Days since 0001-01-01. The year starts in March, so that the leap day is the last day.
fn days_of_date(year: i32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let month_from_march = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_TO_YEAR_ONE
}

/// The inverse of [`days_of_date`]: year, month and day.
fn date_of_days(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_YEAR_ONE;
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
