//! Charts over a time or a number: lines, areas and points, with both axes and a legend.

use super::super::terminal::{Screen, columns, cut};
use super::axis::{self, Mark};
use super::canvas::{Canvas, Style, color, symbol};
use super::data::{Axis, Chart, Kind};

/// Lines of a plot at least and at most.
const HEIGHT: (usize, usize) = (6, 16);
/// Lines of a screen that the axes, the legend and the prompt take.
const AROUND: usize = 8;
/// Columns between two labels of the horizontal axis.
const APART: usize = 14;
/// Columns of a name in the legend.
const NAME: usize = 30;

/// The limits of both axes.
#[derive(Debug, Clone, Copy)]
struct Range {
    x: (f64, f64),
    y: (f64, f64),
}

/// Draws a chart.
pub(super) fn draw(chart: &Chart, screen: Screen) -> Result<String, String> {
    let range = Range::of(chart)?;
    let height = screen
        .height
        .saturating_sub(AROUND)
        .clamp(HEIGHT.0, HEIGHT.1);
    let marks = axis::numbers(range.y.0, range.y.1, height / 3);
    let labels = marks
        .iter()
        .map(|mark| columns(&mark.label))
        .max()
        .unwrap_or(0);
    let width = screen.width.saturating_sub(labels + 2).max(10);
    let several = chart.series.len() > 1;
    let style = if several && !screen.colors {
        Style::Symbols
    } else {
        Style::Braille
    };
    let mut canvas = Canvas::new(width, height, style);
    for (index, _) in chart.series.iter().enumerate() {
        plot(chart, index, range, &mut canvas);
    }
    let mut out = String::new();
    for row in 0..height {
        let mark = marks
            .iter()
            .find(|mark| row_of(mark.value, range, height) == row);
        let label = mark.map_or("", |mark| mark.label.as_str());
        let edge = if mark.is_some() { '┤' } else { '│' };
        let padding = " ".repeat(labels.saturating_sub(columns(label)));
        let line = format!(
            "{padding}{label} {edge}{}",
            canvas.row(row, screen, several)
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str(&horizontal(chart, range, labels, width));
    if several {
        out.push_str(&legend(chart, screen));
    }
    Ok(out)
}

impl Range {
    fn of(chart: &Chart) -> Result<Range, String> {
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let fold = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let x = fold(&mut points().map(|point| point.0));
        let (low, high) = fold(&mut points().map(|point| point.1));
        // Zero is in sight unless the values differ little from each other.
        let base = if low > 0.0 && (high - low) >= high * 0.2 || chart.kind == Kind::Area {
            low.min(0.0)
        } else {
            low
        };
        let (low, high) = (
            chart.limits.0.unwrap_or(base),
            chart.limits.1.unwrap_or(high),
        );
        if low > high {
            return Err("`ymin` is above `ymax`".to_owned());
        }
        Ok(Range {
            x: widened(x),
            y: widened((low, high)),
        })
    }
}

/// Limits with something between them.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    if high > low {
        (low, high)
    } else {
        let half = if low == 0.0 { 1.0 } else { low.abs() * 0.5 };
        (low - half, low + half)
    }
}

/// Where a value lies between limits, from 0 to 1.
fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    (value - low) / (high - low)
}

/// The row of characters of a value.
fn row_of(value: f64, range: Range, height: usize) -> usize {
    ((1.0 - share(value, range.y)) * (height - 1) as f64).round() as usize
}

/// Sets the dots of a series. Values beyond the limits of the vertical axis are left out.
fn plot(chart: &Chart, index: usize, range: Range, canvas: &mut Canvas) {
    let Some(series) = chart.series.get(index) else {
        return;
    };
    let (across, down) = (canvas.dots_across() - 1, canvas.dots_down() - 1);
    let place = |(x, y): &(f64, f64)| {
        let inside = (range.y.0..=range.y.1).contains(y);
        let x = (share(*x, range.x) * across as f64).round() as usize;
        let y = ((1.0 - share(*y, range.y)) * down as f64).round() as usize;
        inside.then_some((x, y))
    };
    let filled = chart.kind == Kind::Area && chart.series.len() == 1;
    let mut before: Option<(usize, usize)> = None;
    for point in &series.points {
        let at = place(point);
        if let Some(at) = at {
            match before.filter(|_| chart.kind != Kind::Points) {
                Some(before) => canvas.line(before, at, index),
                None => canvas.set(at.0, at.1, index),
            }
            if filled {
                fill(before.unwrap_or(at), at, down, canvas);
            }
        }
        before = at;
    }
}

/// Fills the area between a line and the base.
fn fill(from: (usize, usize), to: (usize, usize), base: usize, canvas: &mut Canvas) {
    for x in from.0..=to.0 {
        let part = if to.0 > from.0 {
            (x - from.0) as f64 / (to.0 - from.0) as f64
        } else {
            1.0
        };
        let top = from.1 as f64 + (to.1 as f64 - from.1 as f64) * part;
        for y in top.round() as usize..=base {
            canvas.set(x, y, 0);
        }
    }
}

/// The horizontal axis with its labels and, of a time, its range.
fn horizontal(chart: &Chart, range: Range, labels: usize, width: usize) -> String {
    let most = (width / APART).max(1);
    let marks = match chart.axis {
        Axis::Time => axis::times(range.x.0, range.x.1, most),
        _ => axis::numbers(range.x.0, range.x.1, most),
    };
    let mut rule = vec!['─'; width];
    let mut line = String::new();
    for Mark { value, label } in &marks {
        let at = (share(*value, range.x) * (width - 1) as f64).round() as usize;
        if let Some(place) = rule.get_mut(at) {
            *place = '┬';
        }
        let start = at
            .saturating_sub(label.len() / 2)
            .min(width.saturating_sub(label.len()));
        let used = columns(&line);
        if start > used || used == 0 {
            line.push_str(&" ".repeat(start.saturating_sub(used)));
            line.push_str(label);
        }
    }
    let margin = " ".repeat(labels + 1);
    let rule: String = rule.into_iter().collect();
    let mut out = format!("{margin}└{rule}\n{margin} {line}\n");
    if chart.axis == Axis::Time {
        let form = "%Y-%m-%d %H:%M:%S";
        let (from, to) = (axis::moment(range.x.0, form), axis::moment(range.x.1, form));
        out.push_str(&format!("{margin} {from} to {to} UTC\n"));
    }
    out
}

/// The names of the series, each with its symbol or colour.
fn legend(chart: &Chart, screen: Screen) -> String {
    let mut out = String::new();
    let mut used = 0;
    for (index, series) in chart.series.iter().enumerate() {
        let name = cut(&series.name, NAME);
        let width = columns(&name) + 2;
        if used > 0 && used + 2 + width > screen.width {
            out.push('\n');
            used = 0;
        }
        if used > 0 {
            out.push_str("  ");
            used += 2;
        }
        let mark = if screen.colors { '●' } else { symbol(index) };
        out.push_str(&screen.painted(color(index), &mark.to_string()));
        out.push_str(&format!(" {name}"));
        used += width;
    }
    out.push('\n');
    out
}
