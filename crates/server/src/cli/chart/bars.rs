//! Charts over names: a bar for each, or its share.

use super::super::terminal::{Screen, columns, cut};
use super::canvas::color;
use super::data::{Axis, Chart, Kind};

/// The most bars: the others are counted.
const MOST_BARS: usize = 200;
/// Eighths of a character, from none to seven.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar.
struct Bar<'c> {
    name: &'c str,
    /// The series, if there are several.
    series: Option<&'c str>,
    index: usize,
    value: f64,
}

/// Draws a bar for each name and series.
pub(super) fn draw(chart: &Chart, screen: Screen) -> String {
    let all = bars(chart);
    let total: f64 = all.iter().map(|bar| bar.value.max(0.0)).sum();
    let labels: Vec<(String, String)> = all.iter().map(|bar| label(chart, bar, total)).collect();
    let left = labels
        .iter()
        .map(|(left, _)| columns(left))
        .max()
        .unwrap_or(0);
    let left = left.min(screen.width / 3);
    let right = labels
        .iter()
        .map(|(_, right)| columns(right))
        .max()
        .unwrap_or(0);
    let room = screen.width.saturating_sub(left + right + 3).max(4);
    let largest = all.iter().map(|bar| bar.value.abs()).fold(0.0, f64::max);
    let mut out = String::new();
    for (bar, (name, value)) in all.iter().zip(&labels).take(MOST_BARS) {
        let name = cut(name, left);
        let padding = " ".repeat(left.saturating_sub(columns(&name)));
        let drawn = drawn(bar.value.abs(), largest, room);
        let drawn = if bar.value < 0.0 {
            // A bar below zero is an outline: it has no room on the other side.
            "░".repeat(columns(&drawn))
        } else {
            drawn
        };
        let drawn = screen.painted(color(bar.index), &drawn);
        let space = if drawn.is_empty() { "" } else { " " };
        out.push_str(&format!("{name}{padding} │{drawn}{space}{value}\n"));
    }
    if all.len() > MOST_BARS {
        out.push_str(&format!("{} bars are not shown\n", all.len() - MOST_BARS));
    }
    out
}

/// The values of a card, each with its name.
pub(super) fn card(chart: &Chart) -> String {
    let lines = chart.series.iter().filter_map(|series| {
        let (_, value) = series.points.first()?;
        Some(format!("{value}  {}\n", series.name))
    });
    lines.collect()
}

/// The bars by name, those of one name below each other.
fn bars(chart: &Chart) -> Vec<Bar<'_>> {
    let Axis::Names(names) = &chart.axis else {
        return Vec::new();
    };
    let several = chart.series.len() > 1;
    let mut all: Vec<(usize, Bar<'_>)> = Vec::new();
    for (index, series) in chart.series.iter().enumerate() {
        for (position, value) in &series.points {
            let at = *position as usize;
            let bar = Bar {
                name: names.get(at).map_or("", String::as_str),
                series: several.then_some(series.name.as_str()),
                index: if several { index } else { 0 },
                value: *value,
            };
            all.push((at, bar));
        }
    }
    all.sort_by_key(|(at, bar)| (*at, bar.index));
    all.into_iter().map(|(_, bar)| bar).collect()
}

/// What stands at both sides of a bar.
fn label(chart: &Chart, bar: &Bar<'_>, total: f64) -> (String, String) {
    let name = match bar.series {
        Some(series) => format!("{} {series}", bar.name),
        None => bar.name.to_owned(),
    };
    let value = bar.value.to_string();
    if chart.kind == Kind::Pie && total > 0.0 {
        let share = bar.value.max(0.0) / total * 100.0;
        return (name, format!("{value} ({share:.1} %)"));
    }
    (name, value)
}

/// A bar of a length that belongs to a value, in eighths of a character; the largest value takes all the room.
fn drawn(value: f64, largest: f64, room: usize) -> String {
    if largest <= 0.0 {
        return String::new();
    }
    let eighths = (value / largest * (room * 8) as f64).round() as usize;
    // What is not zero is seen.
    let eighths = eighths.max(usize::from(value > 0.0));
    let rest = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    format!("{}{rest}", "█".repeat(eighths / 8))
}
