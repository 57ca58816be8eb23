//! Times of OTLP: nanoseconds since 1970.

use hindsight_rows::{OutsideWindow, Window};

/// Ticks of 100 ns from the year 1 to 1970.
const EPOCH: i64 = 621_355_968_000_000_000;

/// Ticks of a time in nanoseconds, without the parts of a tick.
pub(crate) fn ticks(nanoseconds: u64) -> i64 {
    // 2⁶⁴ / 100 and the epoch fit.
    i64::try_from(nanoseconds / 100).unwrap_or(i64::MAX - EPOCH) + EPOCH
}

/// Milliseconds between two times, in whole ticks; 0 if the end lies before the start.
pub(crate) fn milliseconds(start: u64, end: u64) -> f64 {
    (end.saturating_sub(start) / 100) as f64 / 10_000.0
}

/// Ticks of a time, if they lie within the window.
pub(crate) fn within(nanoseconds: u64, window: &Window) -> Result<i64, OutsideWindow> {
    let ticks = ticks(nanoseconds);
    window.check(ticks).map(|()| ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_cut_to_ticks_and_never_overflow() {
        assert_eq!(ticks(0), EPOCH);
        assert_eq!(
            ticks(1_795_168_800_123_456_789),
            EPOCH + 17_951_688_001_234_567
        );
        assert!(ticks(u64::MAX) > ticks(1 << 63));
        assert_eq!(milliseconds(1_000, 1_299), 0.0002);
        assert_eq!(milliseconds(2, 1), 0.0);
    }
}
