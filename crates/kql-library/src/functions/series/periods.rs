//! The periods of a series, by its periodogram and its autocorrelation (`docs/semantics.md §26`).
//!
//! The periodogram proposes frequencies; the autocorrelation places the period within the range of lags that a frequency stands
//! for, and scores it. The method is that of Vlachos, Yu and Castelli, "On periodicity detection and structural periodic
//! similarity" (SIAM 2005).

use super::fourier::{Complex, forward, inverse};

/// A period of fewer points is not detected.
const SHORTEST: usize = 4;

/// The probability that noise has a frequency as strong as one that is accepted, by Fisher's test.
const SIGNIFICANCE: f64 = 0.01;

/// A period of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Period {
    /// The number of points.
    pub(crate) length: usize,
    /// The autocorrelation at this lag, scaled from the least autocorrelation (0) to that of lag 0 (1).
    pub(crate) score: f64,
}

/// The periods of a series from [`SHORTEST`] points to half its length, the highest score first.
pub(crate) fn detect(series: &[f64]) -> Vec<Period> {
    let n = series.len();
    if n < 2 * SHORTEST {
        return Vec::new();
    }
    let mean = series.iter().sum::<f64>() / n as f64;
    let centered: Vec<Complex> = series.iter().map(|x| Complex::from(x - mean)).collect();
    let power: Vec<f64> = forward(&centered).iter().map(|x| x.power()).collect();
    let correlation = autocorrelation(&power);
    let mut periods: Vec<Period> = Vec::new();
    for frequency in significant(&power) {
        let Some(period) = peak(&correlation, frequency) else {
            continue;
        };
        if periods.iter().all(|p| p.length != period.length) {
            periods.push(period);
        }
    }
    periods.sort_by(|a, b| b.score.total_cmp(&a.score));
    periods
}

/// The circular autocorrelation, scaled to [0, 1]. A constant series has no values in this range.
fn autocorrelation(power: &[f64]) -> Vec<f64> {
    let power: Vec<Complex> = power.iter().map(|p| Complex::from(*p)).collect();
    let correlation: Vec<f64> = inverse(&power).iter().map(|x| x.re).collect();
    let least = correlation.iter().copied().fold(f64::INFINITY, f64::min);
    let most = correlation.first().copied().unwrap_or(0.0);
    correlation
        .into_iter()
        .map(|c| (c - least) / (most - least))
        .collect()
}

/// The frequencies, in cycles of the series, whose power is significant.
fn significant(power: &[f64]) -> Vec<usize> {
    let half = power.len() / 2;
    let frequencies = || power.iter().enumerate().take(half + 1).skip(1);
    let total: f64 = frequencies().map(|(_, p)| p).sum();
    let count = half as f64;
    let share = 1.0 - (SIGNIFICANCE / count).powf(1.0 / (count - 1.0));
    frequencies()
        .filter(|(_, p)| **p > share * total)
        .map(|(frequency, _)| frequency)
        .collect()
}

/// The period of a frequency: the highest autocorrelation among the lags between the periods of the neighboring frequencies,
/// if it is a local maximum.
fn peak(correlation: &[f64], frequency: usize) -> Option<Period> {
    let n = correlation.len();
    let first = n.div_ceil(frequency + 1).max(SHORTEST);
    let last = match frequency {
        1 => n / 2,
        _ => (n / (frequency - 1)).min(n / 2),
    };
    let at = |lag: usize| correlation.get(lag).copied();
    let (length, score) = (first..=last)
        .filter_map(|lag| Some((lag, at(lag)?)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let is_peak = at(length.checked_sub(1)?)? < score && at(length + 1)? <= score;
    is_peak.then_some(Period { length, score })
}
