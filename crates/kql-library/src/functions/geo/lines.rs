//! Functions on lines.

use super::shape::{lines, write_point};
use super::sphere::{Point, RADIUS};
use crate::dynamic::rows::{Row, each, with_rows};
use crate::functions::prelude::*;

pub(crate) static LENGTH: ScalarFunction = function(
    &["geo_line_length(line: dynamic) -> real"],
    "The length of a line in metres; null if it is not valid.",
    ResultName::None,
    &[example(
        "print l = round(geo_line_length(dynamic({'type': 'LineString', 'coordinates': [[0, 0], [0, 45], [0, 90]]})), 3)",
        "l:real\n10007559.106",
    )],
    |args| {
        with_rows(
            args,
            |length| args.collect_reals(length),
            |row| {
                Some(
                    edges(&lines(row.dynamic(0))?)
                        .map(|(a, b)| a.angle(b))
                        .sum::<f64>()
                        * RADIUS,
                )
            },
        )
    },
);

pub(crate) static CENTROID: ScalarFunction = function(
    &["geo_line_centroid(line: dynamic) -> dynamic"],
    "The centroid of a line.",
    ResultName::None,
    &[example(
        "print c = isnull(geo_line_centroid(dynamic({'type': 'LineString', 'coordinates': [[0, 0]]})))",
        "c:bool\ntrue",
    )],
    |args| {
        each(args, |row, encoder| {
            let lines = lines(row.dynamic(0))?;
            let sum = edges(&lines).fold(Point::ZERO, |sum, (a, b)| {
                let (apart, middle) = (a.plus(b.times(-1.0)), a.plus(b));
                sum.plus(middle.times(apart.length() / middle.length()))
            });
            write_point(sum.unit().degrees(), encoder);
            Some(())
        })
    },
);

pub(crate) static INTERPOLATE: ScalarFunction = function(
    &["geo_line_interpolate_point(line: dynamic, fraction: real) -> dynamic"],
    "The point at a fraction of the length of a line, from 0 to 1.",
    ResultName::None,
    &[example(
        "print p = geo_line_interpolate_point(dynamic({'type': 'LineString', 'coordinates': [[0, 0], [0, 90]]}), 2)",
        "p:dynamic\nnull",
    )],
    |args| {
        let fraction = args.reals(1)?;
        each(args, |row, encoder| {
            let lines = lines(row.dynamic(0))?;
            let fraction = fraction
                .get(row.number())
                .filter(|f| (0.0..=1.0).contains(f))?;
            write_point(interpolate(&lines, fraction)?.degrees(), encoder);
            Some(())
        })
    },
);

pub(crate) static DISTANCE: ScalarFunction = function(
    &["geo_distance_point_to_line(longitude: real, latitude: real, line: dynamic) -> real"],
    "The shortest distance from a point to a line in metres.",
    ResultName::None,
    &[example(
        "print d = round(geo_distance_point_to_line(0, 10, dynamic({'type': 'LineString', 'coordinates': [[-5, 0], [5, 0]]})), 3)",
        "d:real\n1111951.012",
    )],
    |args| {
        with_rows(
            args,
            |distance| args.collect_reals(distance),
            |row| {
                let point = point_of(row)?;
                let lines = lines(row.dynamic(2))?;
                let angles = edges(&lines).map(|(a, b)| point.angle_to_arc(a, b));
                Some(angles.reduce(f64::min)? * RADIUS)
            },
        )
    },
);

/// The point given by the first two arguments.
pub(crate) fn point_of(row: Row<'_>) -> Option<Point> {
    let number = |index: usize| match row.value(index)? {
        Value::Real(value) => Some(value),
        _ => None,
    };
    Point::at(number(0)?, number(1)?)
}

/// The edges of lines.
pub(crate) fn edges(lines: &[Vec<Point>]) -> impl Iterator<Item = (Point, Point)> + '_ {
    lines
        .iter()
        .flat_map(|line| line.iter().copied().zip(line.iter().copied().skip(1)))
}

fn interpolate(lines: &[Vec<Point>], fraction: f64) -> Option<Point> {
    let total: f64 = edges(lines).map(|(a, b)| a.angle(b)).sum();
    let mut rest = total * fraction;
    let mut last = None;
    for (a, b) in edges(lines) {
        let angle = a.angle(b);
        if rest <= angle {
            let across = a.cross(b).unit().cross(a);
            return Some(a.times(rest.cos()).plus(across.times(rest.sin())));
        }
        rest -= angle;
        last = Some(b);
    }
    last
}
