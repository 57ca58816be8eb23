//! Metric points: custom metrics, and performance counters that are sent as metrics.

use std::borrow::Cow;

use hindsight_store::Table;

use super::limits::{self, cut};
use super::row::Row;

/// A measurement or an aggregate of several.
#[derive(Debug, Default, Clone)]
pub struct Point<'a> {
    /// The metric's name, or the path of a performance counter.
    pub name: Cow<'a, str>,
    /// The sum, or the one value.
    pub sum: Option<f64>,
    /// How many measurements; negative counts as 0.
    pub count: i64,
    /// The smallest; absent: the mean.
    pub min: Option<f64>,
    /// The largest; absent: the mean.
    pub max: Option<f64>,
    /// The standard deviation; absent: 0.
    pub std_dev: Option<f64>,
}

impl Point<'_> {
    fn mean(&self) -> Option<f64> {
        let sum = self.sum?;
        Some(if self.count > 1 {
            sum / self.count as f64
        } else {
            sum
        })
    }
}

impl<'a> Row<'a> {
    /// Fills the columns of a metric point. The path of a performance counter makes a row of `performanceCounters`.
    pub fn set_metric(&mut self, point: Point<'a>) -> Table {
        let mean = point.mean();
        if let Some((category, instance, name)) = counter_path(&point.name) {
            let own = |text: &str| Cow::Owned(text.to_owned());
            return counter(self, own(category), own(name), own(instance), mean);
        }
        self.value_sum = point.sum;
        self.value_count = Some(point.count.max(0));
        self.value = mean;
        self.value_min = point.min.or(mean);
        self.value_max = point.max.or(mean);
        self.value_std_dev = point.std_dev.or(Some(0.0));
        self.name = cut(point.name, limits::NAME);
        Table::CustomMetrics
    }
}

/// `\Category(Instance)\Counter` or `\Category\Counter`: how SDKs name performance counters in metric data.
fn counter_path(name: &str) -> Option<(&str, &str, &str)> {
    let (object, counter) = name.strip_prefix('\\')?.split_once('\\')?;
    Some(match object.split_once('(') {
        Some((category, instance)) => (
            category,
            instance.strip_suffix(')').unwrap_or(instance),
            counter,
        ),
        None => (object, "", counter),
    })
}

/// Fills the columns of a performance counter.
pub fn counter<'a>(
    row: &mut Row<'a>,
    category: Cow<'a, str>,
    counter: Cow<'a, str>,
    instance: Cow<'a, str>,
    value: Option<f64>,
) -> Table {
    row.category = cut(category, limits::NAME);
    row.counter = cut(counter, limits::NAME);
    row.instance = cut(instance, limits::NAME);
    row.name = row.counter.clone();
    row.value = value;
    Table::PerformanceCounters
}
