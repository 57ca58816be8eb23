//! The point of a line or a polygon that is closest to a point (`docs/semantics.md §27`).

use super::lines::{edges, point_of};
use super::shape::{lines, polygons as polygons_of, write_point};
use super::sphere::Point;
use super::{polygons, ring};
use crate::dynamic::rows::{each, with_rows};
use crate::functions::prelude::*;

pub(crate) static ON_LINE: ScalarFunction = function(
    &["geo_closest_point_on_line(longitude: real, latitude: real, line: dynamic) -> dynamic"],
    "The point of a line that is closest to a point; null if one of them is not valid.",
    ResultName::None,
    &[example(
        "print p = geo_closest_point_on_line(2, 5, dynamic({'type': 'LineString', 'coordinates': [[0, 0], [0, 5]]})) | project lon = round(todouble(p.coordinates[0]), 6), lat = round(todouble(p.coordinates[1]), 6)",
        "lon:real, lat:real\n0.0 | 5.0",
    )],
    |args| {
        each(args, |row, encoder| {
            let (point, lines) = (point_of(row)?, lines(row.dynamic(2))?);
            write_point(nearest(point, edges(&lines))?.degrees(), encoder);
            Some(())
        })
    },
);

pub(crate) static ON_POLYGON: ScalarFunction = function(
    &["geo_closest_point_on_polygon(longitude: real, latitude: real, polygon: dynamic) -> dynamic"],
    "The point of a polygon that is closest to a point, which is the point itself inside the polygon; null if one of them is not valid.",
    ResultName::None,
    &[example(
        "print p = geo_closest_point_on_polygon(500, 1, dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [10, 10], [10, 1], [0, 0]]]}))",
        "p:dynamic\nnull",
    )],
    |args| {
        each(args, |row, encoder| {
            let (point, polygons) = (point_of(row)?, polygons_of(row.dynamic(2))?);
            let closest = if polygons.iter().any(|p| polygons::contains(p, point)) {
                point
            } else {
                let rings = polygons.iter().flatten();
                nearest(point, rings.flat_map(|points| ring::edges(points)))?
            };
            write_point(closest.degrees(), encoder);
            Some(())
        })
    },
);

pub(crate) static LOCATE: ScalarFunction = function(
    &["geo_line_locate_point(line: dynamic, longitude: real, latitude: real) -> real"],
    "The part of the length of a line, from 0 to 1, up to the point that is closest to a point, on the sphere. The argument `use_spheroid` is not supported.",
    ResultName::None,
    &[example(
        "print f = round(geo_line_locate_point(dynamic({'type': 'LineString', 'coordinates': [[0, 0], [0, 10]]}), 1, 5), 6)",
        "f:real\n0.500076",
    )],
    |args| {
        let (longitude, latitude) = (args.reals(1)?, args.reals(2)?);
        with_rows(
            args,
            |value| args.collect_reals(value),
            |row| {
                let number = row.number();
                let point = Point::at(longitude.get(number)?, latitude.get(number)?)?;
                let lines = lines(row.dynamic(0)).filter(|lines| lines.len() == 1)?;
                located(point, &lines)
            },
        )
    },
);

fn nearest(point: Point, edges: impl Iterator<Item = (Point, Point)>) -> Option<Point> {
    edges
        .map(|(a, b)| point.nearest_on_arc(a, b))
        .min_by(|a, b| point.angle(*a).total_cmp(&point.angle(*b)))
}

fn located(point: Point, lines: &[Vec<Point>]) -> Option<f64> {
    let mut length = 0.0;
    let mut best: Option<(f64, f64)> = None;
    for (a, b) in edges(lines) {
        let nearest = point.nearest_on_arc(a, b);
        let distance = point.angle(nearest);
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, length + a.angle(nearest)));
        }
        length += a.angle(b);
    }
    Some(best?.1 / length)
}
