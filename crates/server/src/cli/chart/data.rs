//! What a chart shows: the series of a result.

use std::collections::BTreeMap;

use hindsight_kql_types::datetime;
use serde_json::Value;

use super::super::answer::{AnswerColumn, AnswerTable, text};
use super::super::terminal::printable;
use super::canvas::MOST_SERIES;

/// How series are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Lines over a time or a number.
    Lines,
    /// As lines, filled to the base.
    Area,
    /// Points that nothing connects.
    Points,
    /// A bar for each name.
    Bars,
    /// As bars, with the share of each.
    Pie,
    /// Values with their names.
    Card,
}

impl Kind {
    /// The kind of a visualization that is drawn.
    pub(super) fn parse(visualization: &str) -> Option<Kind> {
        Some(match visualization {
            "timechart" | "linechart" | "anomalychart" => Kind::Lines,
            "areachart" | "stackedareachart" => Kind::Area,
            "scatterchart" => Kind::Points,
            "barchart" | "columnchart" => Kind::Bars,
            "piechart" => Kind::Pie,
            "card" => Kind::Card,
            _ => return None,
        })
    }

    /// Whether points lie on an axis of names.
    fn has_names(self) -> bool {
        matches!(self, Kind::Bars | Kind::Pie | Kind::Card)
    }
}

/// The horizontal axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Axis {
    /// Ticks of `datetime`.
    Time,
    /// Numbers.
    Number,
    /// Names; a point has the index of its own.
    Names(Vec<String>),
}

/// Points with a name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    /// The name in the legend.
    pub(super) name: String,
    /// Positions and finite values, in the order of the rows or, on an axis that is no list of names, of the positions.
    pub(super) points: Vec<(f64, f64)>,
}

/// A chart.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) kind: Kind,
    pub(super) title: Option<String>,
    pub(super) axis: Axis,
    pub(super) series: Vec<Series>,
    /// The limits of the vertical axis that `render` names.
    pub(super) limits: (Option<f64>, Option<f64>),
    /// Sentences about what is not drawn.
    pub(super) notes: Vec<String>,
}

/// Which columns are what.
struct Roles {
    x: usize,
    series: Vec<usize>,
    y: Vec<usize>,
    /// Whether the cells of `x` and `y` are arrays, as `make-series` has them.
    arrays: bool,
}

/// One position with its values.
struct Point {
    x: String,
    series: String,
    y: Vec<Option<f64>>,
}

impl Chart {
    /// Reads the series of a table as the properties of `render` name them.
    pub(super) fn read(
        kind: Kind,
        table: &AnswerTable<'_>,
        render: &Value,
    ) -> Result<Chart, String> {
        let property = |name: &str| {
            let value = render.get(name).and_then(Value::as_str);
            value.filter(|value| !value.is_empty())
        };
        let roles = Roles::find(kind, table, &property)?;
        let points = roles.points(table)?;
        let names: Vec<&str> = (roles.y.iter())
            .filter_map(|column| Some(table.columns.get(*column)?.name.as_str()))
            .collect();
        let (axis, mut series) = collect(kind, &points, &names)?;
        let mut notes = Vec::new();
        if property("kind").is_some_and(|kind| kind.starts_with("stacked"))
            || render.get("visualization").and_then(Value::as_str) == Some("stackedareachart")
        {
            if kind == Kind::Area {
                stack(&mut series);
                notes.push(
                    "stacked: each line is the sum of its series and of those before it".to_owned(),
                );
            } else if series.len() > 1 {
                notes.push(
                    "the bars of one name stand below each other instead of being stacked"
                        .to_owned(),
                );
            }
        }
        if series.len() > MOST_SERIES {
            notes.push(format!(
                "{} of {} series are drawn: the largest ones",
                MOST_SERIES,
                series.len()
            ));
            keep_largest(&mut series);
        }
        let limit = |name: &str| property(name).and_then(|text| text.parse::<f64>().ok());
        Ok(Chart {
            kind,
            title: property("title").map(str::to_owned),
            axis,
            series,
            limits: (limit("yMin"), limit("yMax")),
            notes,
        })
    }
}

impl Roles {
    fn find<'p>(
        kind: Kind,
        table: &AnswerTable<'_>,
        property: &impl Fn(&str) -> Option<&'p str>,
    ) -> Result<Roles, String> {
        let columns = &table.columns;
        let named = |name: &str| {
            let found = columns.iter().position(|column| column.name == name);
            found.ok_or_else(|| format!("the result has no column '{name}'"))
        };
        let list = |name: &str| -> Result<Option<Vec<usize>>, String> {
            let names = property(name).map(|names| names.split(',').map(|one| named(one.trim())));
            names.map(Iterator::collect).transpose()
        };
        let all = || 0..columns.len();
        let kind_of = |column: usize| columns.get(column).map_or("", |c| c.kind.as_str());
        let arrays = !kind.has_names()
            && !columns.iter().any(AnswerColumn::is_number)
            && all().any(|column| array(table, column).is_some());
        let x = match property("xColumn") {
            Some(name) => named(name)?,
            None if arrays => array_of_positions(table)?,
            None if kind.has_names() => 0,
            None => all()
                .find(|column| kind_of(*column) == "datetime")
                .unwrap_or(0),
        };
        let is_value = |column: &usize| {
            if arrays {
                array(table, *column).is_some_and(|values| values.iter().any(Value::is_number))
            } else {
                columns.get(*column).is_some_and(AnswerColumn::is_number)
            }
        };
        let y: Vec<usize> = match list("yColumns")? {
            Some(named) => named,
            // The only column of a card, or of a chart without positions, is its value.
            None => {
                let others: Vec<usize> = all().filter(|c| *c != x).filter(is_value).collect();
                if others.is_empty() && kind == Kind::Card {
                    all().filter(is_value).collect()
                } else {
                    others
                }
            }
        };
        if y.is_empty() {
            return Err("no column of the result has numbers to draw".to_owned());
        }
        let series = match list("series")? {
            Some(named) => named,
            None => all()
                .filter(|column| *column != x && !y.contains(column))
                .filter(|column| matches!(kind_of(*column), "string" | "bool" | "guid"))
                .collect(),
        };
        Ok(Roles {
            x,
            series,
            y,
            arrays,
        })
    }

    fn points(&self, table: &AnswerTable<'_>) -> Result<Vec<Point>, String> {
        let mut points = Vec::new();
        for row in &table.rows {
            let cell = |column: usize| row.get(column).map(|cell| text(cell)).unwrap_or_default();
            let series: Vec<String> = self
                .series
                .iter()
                .map(|column| printable(&cell(*column)))
                .collect();
            let series = series.join(", ");
            if !self.arrays {
                points.push(Point {
                    x: cell(self.x),
                    series,
                    y: self.y.iter().map(|column| number(&cell(*column))).collect(),
                });
                continue;
            }
            let parsed = |column: usize| -> Result<Vec<Value>, String> {
                let name = table.columns.get(column).map_or("", |c| c.name.as_str());
                serde_json::from_str(&cell(column))
                    .map_err(|_| format!("a cell of '{name}' is no array"))
            };
            let positions = parsed(self.x)?;
            let values: Vec<Vec<Value>> = self
                .y
                .iter()
                .map(|c| parsed(*c))
                .collect::<Result<_, _>>()?;
            for (index, position) in positions.iter().enumerate() {
                let at = |values: &Vec<Value>| values.get(index).and_then(Value::as_f64);
                points.push(Point {
                    x: position
                        .as_str()
                        .map_or_else(|| position.to_string(), str::to_owned),
                    series: series.clone(),
                    y: values
                        .iter()
                        .map(at)
                        .map(|value| value.filter(|v| v.is_finite()))
                        .collect(),
                });
            }
        }
        Ok(points)
    }
}

/// The column with the positions of `make-series`: the arrays of times or, if there are none, the last arrays.
fn array_of_positions(table: &AnswerTable<'_>) -> Result<usize, String> {
    let arrays: Vec<(usize, Vec<Value>)> = (0..table.columns.len())
        .filter_map(|column| Some((column, array(table, column)?)))
        .collect();
    let is_time = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| datetime::parse(text).is_some())
    };
    let times = arrays
        .iter()
        .find(|(_, values)| values.first().is_some_and(is_time));
    let found = times.or(arrays.last()).map(|(column, _)| *column);
    found.ok_or_else(|| "no column of the result has positions".to_owned())
}

/// The array in the first row of a dynamic column.
fn array(table: &AnswerTable<'_>, column: usize) -> Option<Vec<Value>> {
    let is_dynamic = table.columns.get(column)?.kind == "dynamic";
    let cell = text(table.rows.first()?.get(column)?);
    is_dynamic
        .then(|| serde_json::from_str(&cell).ok())
        .flatten()
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// The axis and the series of points; `names` are those of the values.
fn collect(kind: Kind, points: &[Point], names: &[&str]) -> Result<(Axis, Vec<Series>), String> {
    let (axis, positions) = positions(kind, points)?;
    let mut series: Vec<Series> = Vec::new();
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    for (point, position) in points.iter().zip(positions) {
        let Some(position) = position else { continue };
        for (value, name) in point.y.iter().zip(names) {
            let name = match (point.series.as_str(), names.len()) {
                ("", _) => printable(name),
                (series, 1) => series.to_owned(),
                (series, _) => format!("{series}: {}", printable(name)),
            };
            let at = *index.entry(name.clone()).or_insert(series.len());
            if at == series.len() {
                series.push(Series {
                    name,
                    points: Vec::new(),
                });
            }
            if let (Some(value), Some(series)) = (value, series.get_mut(at)) {
                series.points.push((position, *value));
            }
        }
    }
    series.retain(|series| !series.points.is_empty());
    if series.is_empty() {
        return Err("the result has no numbers to draw".to_owned());
    }
    if !kind.has_names() {
        for one in &mut series {
            one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }
    Ok((axis, series))
}

/// The axis, and the position of each point; `None` where it has none.
fn positions(kind: Kind, points: &[Point]) -> Result<(Axis, Vec<Option<f64>>), String> {
    if kind.has_names() {
        let mut names: Vec<String> = Vec::new();
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        let mut found = Vec::new();
        for point in points {
            let at = *index.entry(&point.x).or_insert(names.len());
            if at == names.len() {
                names.push(printable(&point.x));
            }
            found.push(Some(at as f64));
        }
        return Ok((Axis::Names(names), found));
    }
    let filled = || points.iter().filter(|point| !point.x.is_empty());
    let time = |point: &Point| datetime::parse(&point.x).map(|ticks| ticks as f64);
    if filled().all(|point| time(point).is_some()) {
        return Ok((Axis::Time, points.iter().map(time).collect()));
    }
    if filled().all(|point| number(&point.x).is_some()) {
        let found = points.iter().map(|point| number(&point.x)).collect();
        return Ok((Axis::Number, found));
    }
    Err("its first column has neither times nor numbers".to_owned())
}

/// Adds to each series those before it. A series without a value at a position counts as zero there.
fn stack(series: &mut [Series]) {
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    let all = series.iter().flat_map(|series| &series.points);
    for (x, _) in all {
        sums.insert(x.to_bits(), (*x, 0.0));
    }
    for one in series {
        for (x, value) in &one.points {
            if let Some((_, sum)) = sums.get_mut(&x.to_bits()) {
                *sum += value;
            }
        }
        one.points = sums.values().copied().collect();
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
}

/// Keeps the series with the largest sums, in their order.
fn keep_largest(series: &mut Vec<Series>) {
    let weight = |one: &Series| one.points.iter().map(|(_, value)| value.abs()).sum::<f64>();
    let mut weights: Vec<f64> = series.iter().map(weight).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let least = weights.get(MOST_SERIES - 1).copied().unwrap_or(0.0);
    series.retain(|one| weight(one) >= least);
    series.truncate(MOST_SERIES);
}
