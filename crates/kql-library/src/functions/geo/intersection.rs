//! Intersection tests for lines and polygons.

use super::arcs::common_points;
use super::shape::{Polygon, lines, polygons};
use super::sphere::Point;
use super::{lines as line, polygons as polygon, ring};
use crate::dynamic::rows::{Row, with_rows};
use crate::functions::prelude::*;
use crate::work::CancellationToken;

pub(crate) static LINES: ScalarFunction = function(
    &["geo_intersects_2lines(line1: dynamic, line2: dynamic) -> bool"],
    "Whether two lines intersect; null if one is not valid.",
    ResultName::None,
    &[example(
        "print b = geo_intersects_2lines(dynamic({'type': 'LineString', 'coordinates': [[0, 0], [2, 2]]}), dynamic({'type': 'LineString', 'coordinates': [[0, 2], [2, 0]]}))",
        "b:bool\ntrue",
    )],
    |args| {
        bools(args, |row| {
            let (one, other) = (lines(row.dynamic(0))?, lines(row.dynamic(1))?);
            Some(cross(line::edges(&one), || line::edges(&other)))
        })
    },
);

pub(crate) static POLYGONS: ScalarFunction = function(
    &["geo_intersects_2polygons(polygon1: dynamic, polygon2: dynamic) -> bool"],
    "Whether two polygons intersect; null if one is not valid.",
    ResultName::None,
    &[example(
        "print b = geo_intersects_2polygons(dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [9, 0], [9, 9], [0, 0]]]}), dynamic({'type': 'Polygon', 'coordinates': [[[6, 2], [7, 2], [7, 3], [6, 2]]]}))",
        "b:bool\ntrue",
    )],
    |args| {
        bools(args, |row| {
            let (one, other) = (polygons(row.dynamic(0))?, polygons(row.dynamic(1))?);
            let cross = cross(outlines(&one), || outlines(&other));
            Some(cross || holds_corner(&one, &other) || holds_corner(&other, &one))
        })
    },
);

pub(crate) static LINE_WITH_POLYGON: ScalarFunction = function(
    &["geo_intersects_line_with_polygon(line: dynamic, polygon: dynamic) -> bool"],
    "Whether a line and a polygon intersect; null if one of them is not valid.",
    ResultName::None,
    &[example(
        "print b = geo_intersects_line_with_polygon(dynamic({'type': 'LineString', 'coordinates': [[6, 2], [7, 2]]}), dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [9, 0], [9, 9], [0, 0]]]}))",
        "b:bool\ntrue",
    )],
    |args| {
        bools(args, |row| {
            let (lines, polygons) = (lines(row.dynamic(0))?, polygons(row.dynamic(1))?);
            let inside = |point: &Point| polygons.iter().any(|p| polygon::contains(p, *point));
            let cross = cross(line::edges(&lines), || outlines(&polygons));
            Some(cross || lines.iter().flatten().any(inside))
        })
    },
);

fn bools(args: &KernelArgs<'_>, f: impl FnMut(Row<'_>) -> Option<bool>) -> KernelResult {
    with_rows(args, |value| args.collect_bools(value), f)
}

fn outlines(polygons: &[Polygon]) -> impl Iterator<Item = (Point, Point)> + '_ {
    polygons
        .iter()
        .flatten()
        .flat_map(|points| ring::edges(points))
}

/// Whether a corner of one of the `others` lies inside one of the polygons.
fn holds_corner(polygons: &[Polygon], others: &[Polygon]) -> bool {
    let cancellation = CancellationToken::current();
    let mut corners = others.iter().flatten().flatten();
    corners.any(|corner| {
        cancellation.is_cancelled() || polygons.iter().any(|p| polygon::contains(p, *corner))
    })
}

fn cross<E: Iterator<Item = (Point, Point)>>(
    mut one: impl Iterator<Item = (Point, Point)>,
    others: impl Fn() -> E,
) -> bool {
    let cancellation = CancellationToken::current();
    one.any(|(a, b)| {
        cancellation.is_cancelled() || others().any(|(c, d)| !common_points(a, b, c, d).is_empty())
    })
}
