//! The decomposition of a series: seasonal component, trend and residual (`docs/semantics.md §26`).

use hindsight_kql_syntax::Code;

use super::fit::Line;
use super::numbers::{reals, scalar};
use super::periods::detect;
use crate::dynamic::rows::Row;
use crate::functions::prelude::*;

/// The trend component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trend {
    /// The mean.
    Mean,
    /// The least-squares line.
    Line,
    /// No trend.
    None,
}

impl Trend {
    /// The trend of a name; `None` for an unknown name.
    pub(crate) fn named(name: &str) -> Option<Trend> {
        match name {
            "avg" => Some(Trend::Mean),
            "linefit" => Some(Trend::Line),
            "none" => Some(Trend::None),
            _ => None,
        }
    }
}

/// The seasonal analysis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Seasonality {
    /// The strongest period, if its score reaches the threshold.
    Detect(f64),
    /// A period of this many points.
    Period(usize),
    /// No seasonal component.
    None,
}

impl Seasonality {
    /// The analysis that an argument asks for: -1 detects the period, a positive number is the period.
    pub(crate) fn of(period: i64, threshold: f64) -> Seasonality {
        match usize::try_from(period) {
            Ok(0) => Seasonality::None,
            Ok(period) => Seasonality::Period(period),
            Err(_) if period == -1 => Seasonality::Detect(threshold),
            Err(_) => Seasonality::None,
        }
    }
}

/// The options of a decomposition: the positions of its arguments in a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positions {
    /// The period.
    pub(crate) period: usize,
    /// The name of the trend.
    pub(crate) trend: usize,
    /// The number of points at the end that are not learned from.
    pub(crate) test_points: usize,
    /// The least score of a detected period.
    pub(crate) threshold: usize,
}

impl Positions {
    /// Checks the constant arguments of a call of the function `name`.
    pub(crate) fn check(self, name: &str, call: &CallArgs<'_>) -> Result<(), Diagnostic> {
        match constant_text(call, self.trend) {
            Some(trend) if Trend::named(&trend).is_none() => Err(refuse(
                call,
                Code::Semantics,
                format!("{name}(): the trend is 'avg', 'linefit' or 'none' and not '{trend}'"),
            )),
            _ => Ok(()),
        }
    }

    /// The decomposition of one row; `None` if an argument is null or no component can be computed.
    pub(crate) fn decompose(self, row: Row<'_>) -> Option<Decomposition> {
        let series = reals(row, 0)?;
        let or = |index: usize, default: f64| match row.value(index) {
            None => Some(default),
            Some(_) => scalar(row, index).map(|number| number.real()),
        };
        let threshold = or(self.threshold, DEFAULT_THRESHOLD)?;
        let seasonality = Seasonality::of(or(self.period, -1.0)? as i64, threshold);
        let trend = match row.value(self.trend) {
            None => Trend::Mean,
            Some(Value::String(name)) => Trend::named(&name)?,
            Some(_) => return None,
        };
        let test_points = or(self.test_points, 0.0)?;
        let learned = series.len().checked_sub(test_points.max(0.0) as usize)?;
        Decomposition::of(&series, learned, seasonality, trend)
    }
}

/// The least score of a detected period.
const DEFAULT_THRESHOLD: f64 = 0.6;

/// The components of a series, each as long as the series.
pub(crate) struct Decomposition {
    /// The sum of the seasonal component and the trend.
    pub(crate) baseline: Vec<f64>,
    /// The median of the points of the same phase.
    pub(crate) seasonal: Vec<f64>,
    /// The trend of the series without its seasonal component.
    pub(crate) trend: Vec<f64>,
    /// The series without its baseline.
    pub(crate) residual: Vec<f64>,
}

impl Decomposition {
    /// The components, learned from the first `learned` points.
    fn of(
        series: &[f64],
        learned: usize,
        seasonality: Seasonality,
        trend: Trend,
    ) -> Option<Decomposition> {
        let seasonal = seasonal(series, learned, seasonality)?;
        let deseasonal: Vec<f64> = series
            .iter()
            .zip(&seasonal)
            .take(learned)
            .map(|(y, s)| y - s)
            .collect();
        let trend: Vec<f64> = match trend {
            Trend::None => vec![0.0; series.len()],
            Trend::Mean if learned == 0 => return None,
            Trend::Mean => {
                vec![deseasonal.iter().sum::<f64>() / learned as f64; series.len()]
            }
            Trend::Line => Line::of(&deseasonal)?.values(series.len()),
        };
        let baseline: Vec<f64> = seasonal.iter().zip(&trend).map(|(s, t)| s + t).collect();
        let residual = series.iter().zip(&baseline).map(|(y, b)| y - b).collect();
        Some(Decomposition {
            baseline,
            seasonal,
            trend,
            residual,
        })
    }
}

/// The seasonal component of a series, learned from its first `learned` points; zeros if there is none. `None` if a phase of
/// the period has no point.
pub(crate) fn seasonal(
    series: &[f64],
    learned: usize,
    seasonality: Seasonality,
) -> Option<Vec<f64>> {
    let known = series.get(..learned)?;
    let period = match seasonality {
        Seasonality::None => None,
        Seasonality::Period(period) => Some(period),
        Seasonality::Detect(threshold) => detect(known)
            .first()
            .filter(|period| period.score >= threshold)
            .map(|period| period.length),
    };
    let Some(period) = period else {
        return Some(vec![0.0; series.len()]);
    };
    let medians = (0..period.min(series.len()))
        .map(|phase| median(known.iter().copied().skip(phase).step_by(period).collect()))
        .collect::<Option<Vec<f64>>>()?;
    Some(medians.iter().copied().cycle().take(series.len()).collect())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let high = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(high);
    }
    let low = *values.get(values.len() / 2 - 1)?;
    Some((low + high) / 2.0)
}
