//! Functions on polygons, whose edges are arcs of great circles.

use hindsight_kql_types::DynamicRef;

use super::lines::point_of;
use super::overlay::{Ring, rings, union_of_all};
use super::ring::{area, edges, inside, moment};
use super::shape::{Polygon, polygons, write_point};
use super::sphere::{Point, RADIUS};
use crate::dynamic::rows::{each, with_rows};
use crate::functions::prelude::*;

pub(crate) static AREA: ScalarFunction = function(
    &["geo_polygon_area(polygon: dynamic) -> real"],
    "The area of a polygon in square metres; null if it is not valid.",
    ResultName::None,
    &[example(
        "print a = isnull(geo_polygon_area(dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [1, 1]]]})))",
        "a:bool\ntrue",
    )],
    |args| {
        with_rows(
            args,
            |area| args.collect_reals(area),
            |row| {
                let rings = boundary(row.dynamic(0))?;
                let areas = rings.iter().map(|ring| ring.sign() * area(&ring.points));
                Some(areas.sum::<f64>() * RADIUS * RADIUS)
            },
        )
    },
);

pub(crate) static PERIMETER: ScalarFunction = function(
    &["geo_polygon_perimeter(polygon: dynamic) -> real"],
    "The length of the edges of a polygon in metres; null if it is not valid.",
    ResultName::None,
    &[example(
        "print p = round(geo_polygon_perimeter(dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [90, 0], [0, 90], [0, 0]]]})), 2)",
        "p:real\n30022677.32",
    )],
    |args| {
        with_rows(
            args,
            |length| args.collect_reals(length),
            |row| {
                let rings = boundary(row.dynamic(0))?;
                let rings = rings.iter().flat_map(|ring| edges(&ring.points));
                Some(rings.map(|(a, b)| a.angle(b)).sum::<f64>() * RADIUS)
            },
        )
    },
);

pub(crate) static CENTROID: ScalarFunction = function(
    &["geo_polygon_centroid(polygon: dynamic) -> dynamic"],
    "The centroid of a polygon.",
    ResultName::None,
    &[example(
        "print c = isnull(geo_polygon_centroid(dynamic({'type': 'Polygon', 'coordinates': []})))",
        "c:bool\ntrue",
    )],
    |args| {
        each(args, |row, encoder| {
            let rings = boundary(row.dynamic(0))?;
            let moments = rings
                .iter()
                .map(|ring| moment(&ring.points).times(ring.sign()));
            let sum = moments.fold(Point::ZERO, Point::plus);
            write_point(sum.unit().degrees(), encoder);
            Some(())
        })
    },
);

pub(crate) static CONTAINS: ScalarFunction = function(
    &["geo_point_in_polygon(longitude: real, latitude: real, polygon: dynamic) -> bool"],
    "Whether a point lies inside a polygon; null if one of them is not valid.",
    ResultName::None,
    &[example(
        "print b = geo_point_in_polygon(5, 3, dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [10, 0], [10, 10], [0, 0]]]}))",
        "b:bool\ntrue",
    )],
    |args| {
        with_rows(
            args,
            |inside| args.collect_bools(inside),
            |row| {
                let point = point_of(row)?;
                let polygons = polygons(row.dynamic(2))?;
                Some(polygons.iter().any(|polygon| contains(polygon, point)))
            },
        )
    },
);

pub(crate) static DISTANCE: ScalarFunction = function(
    &["geo_distance_point_to_polygon(longitude: real, latitude: real, polygon: dynamic) -> real"],
    "The shortest distance from a point to a polygon in metres, 0 inside.",
    ResultName::None,
    &[example(
        "print d = geo_distance_point_to_polygon(5, 3, dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [10, 0], [10, 10], [0, 0]]]}))",
        "d:real\n0.0",
    )],
    |args| {
        with_rows(
            args,
            |distance| args.collect_reals(distance),
            |row| {
                let point = point_of(row)?;
                let polygons = polygons(row.dynamic(2))?;
                if polygons.iter().any(|polygon| contains(polygon, point)) {
                    return Some(0.0);
                }
                let edges = polygons.iter().flatten().flat_map(|ring| edges(ring));
                let nearest = edges
                    .map(|(a, b)| point.angle_to_arc(a, b))
                    .reduce(f64::min)?;
                Some(nearest * RADIUS)
            },
        )
    },
);

/// The rings of a polygon, or of the union of several polygons, which may overlap.
fn boundary(shape: DynamicRef<'_>) -> Option<Vec<Ring>> {
    let polygons = polygons(shape)?;
    Some(if polygons.len() == 1 {
        rings(&polygons)
    } else {
        let shapes = polygons.into_iter().map(|polygon| vec![polygon]);
        rings(&union_of_all(shapes.collect())?)
    })
}

/// Whether a point lies inside a polygon and in none of its holes.
pub(crate) fn contains(polygon: &Polygon, point: Point) -> bool {
    match polygon.split_first() {
        Some((outer, holes)) => {
            inside(outer, point) && !holes.iter().any(|hole| inside(hole, point))
        }
        None => false,
    }
}
