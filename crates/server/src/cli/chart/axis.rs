//! The marks of an axis: round values, and how they are written.

use hindsight_kql_types::ticks::to_unix_millis;
use jiff::Timestamp;

/// Ticks of `datetime` in a second.
const SECOND: f64 = 10_000_000.0;
/// Steps between the marks of a time axis, in seconds.
const TIME_STEPS: [f64; 26] = [
    0.001,
    0.01,
    0.1,
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    900.0,
    1800.0,
    3600.0,
    7200.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    604_800.0,
    2_592_000.0,
    7_776_000.0,
    31_536_000.0,
];

/// A value with its label.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    pub(super) value: f64,
    pub(super) label: String,
}

/// Marks at round numbers, at most about `most` of them.
pub(super) fn numbers(low: f64, high: f64, most: usize) -> Vec<Mark> {
    let step = round_step((high - low) / most.max(1) as f64);
    multiples(low, high, step)
        .map(|value| Mark {
            value,
            label: number(value, step),
        })
        .collect()
}

/// Marks at round times of UTC, at most about `most` of them; the limits are ticks.
pub(super) fn times(low: f64, high: f64, most: usize) -> Vec<Mark> {
    let wanted = (high - low) / SECOND / most.max(1) as f64;
    let largest = TIME_STEPS.last().copied().unwrap_or(1.0);
    let step = TIME_STEPS.into_iter().find(|step| *step >= wanted);
    let step = step.unwrap_or_else(|| largest * (wanted / largest).ceil());
    multiples(low, high, step * SECOND)
        .map(|value| Mark {
            value,
            label: time(value, step),
        })
        .collect()
}

/// A time in ticks rounded to steps of this number of seconds.
pub(super) fn time(ticks: f64, step: f64) -> String {
    let form = match step {
        step if step < 1.0 => "%H:%M:%S.%3f",
        step if step < 60.0 => "%H:%M:%S",
        step if step < 86_400.0 => "%H:%M",
        step if step < 31_536_000.0 => "%m-%d",
        _ => "%Y",
    };
    moment(ticks, form)
}

/// A time in ticks in a form of strftime, in UTC.
pub(super) fn moment(ticks: f64, form: &str) -> String {
    let millis = to_unix_millis(ticks.round() as i64);
    Timestamp::from_millisecond(millis)
        .map(|at| at.strftime(form).to_string())
        .unwrap_or_default()
}

/// The multiples of a step within limits.
fn multiples(low: f64, high: f64, step: f64) -> impl Iterator<Item = f64> {
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    let count = if step > 0.0 && last >= first {
        (last - first) as usize + 1
    } else {
        0
    };
    (0..count).map(move |index| (first + index as f64) * step)
}

/// The least of 1, 2 and 5 times a power of ten that is not below a value.
fn round_step(least: f64) -> f64 {
    if least <= 0.0 || !least.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power);
    let mut fitting = steps.filter(|step| *step >= least * 0.999_999);
    fitting.next().unwrap_or(power * 10.0)
}

/// A number with as many digits as steps of a size need, and a unit of thousands.
pub(super) fn number(value: f64, step: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let size = value.abs().max(step.abs());
    if size >= 1e15 || (size < 1e-4 && size > 0.0) {
        return format!("{value:.2e}");
    }
    let unit = UNITS
        .into_iter()
        .find(|(unit, _)| value.abs() >= *unit && step >= *unit / 100.0);
    let (unit, name) = unit.unwrap_or((1.0, ""));
    let digits = (-(step / unit).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{:.digits$}{name}", value / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(marks: &[Mark]) -> Vec<&str> {
        marks.iter().map(|mark| mark.label.as_str()).collect()
    }

    #[test]
    fn numbers_are_round() {
        assert_eq!(
            labels(&numbers(0.0, 100.0, 5)),
            ["0", "20", "40", "60", "80", "100"]
        );
        assert_eq!(labels(&numbers(0.0, 0.7, 4)), ["0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(labels(&numbers(0.0, 5_000_000.0, 3)), ["0", "2M", "4M"]);
        assert_eq!(labels(&numbers(-3.0, 3.0, 3)), ["-2", "0", "2"]);
        assert_eq!(
            labels(&numbers(1000.0, 1004.0, 4)),
            ["1000", "1001", "1002", "1003", "1004"]
        );
    }

    #[test]
    fn times_are_round_in_utc() {
        let at = |text: &str| hindsight_kql_types::datetime::parse(text).unwrap() as f64;
        let day = times(at("2026-11-22T06:10:00Z"), at("2026-11-23T06:10:00Z"), 5);
        assert_eq!(labels(&day), ["12:00", "18:00", "00:00", "06:00"]);
        let minutes = times(at("2026-11-22T06:10:00Z"), at("2026-11-22T06:12:00Z"), 4);
        assert_eq!(
            labels(&minutes),
            ["06:10:00", "06:10:30", "06:11:00", "06:11:30", "06:12:00"]
        );
        let weeks = times(at("2026-01-01"), at("2026-02-01"), 5);
        // Mondays.
        assert_eq!(labels(&weeks), ["01-05", "01-12", "01-19", "01-26"]);
    }
}
