//! Functions on polygons, whose edges are arcs of great circles.

use std::f64::consts::TAU;

use hindsight_kql_types::DynamicRef;

use super::lines::point_of;
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
        refuse_several(args)?;
        with_rows(
            args,
            |area| args.collect_reals(area),
            |row| {
                let polygon = polygons(row.dynamic(0))?.pop()?;
                let (outer, holes) = polygon.split_first()?;
                let holes: f64 = holes.iter().map(|ring| area(ring)).sum();
                Some((area(outer) - holes) * RADIUS * RADIUS)
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
        refuse_several(args)?;
        with_rows(
            args,
            |length| args.collect_reals(length),
            |row| {
                let polygon = polygons(row.dynamic(0))?.pop()?;
                let rings = polygon.iter().flat_map(|ring| edges(ring));
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
        refuse_several(args)?;
        each(args, |row, encoder| {
            let polygon = polygons(row.dynamic(0))?.pop()?;
            let (outer, holes) = polygon.split_first()?;
            let holes = holes.iter().map(|ring| moment(ring).times(-1.0));
            let sum = holes.fold(moment(outer), Point::plus);
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

/// Reports an error if a row holds several polygons: their combined area depends on how they overlap.
fn refuse_several(args: &KernelArgs<'_>) -> Result<(), KernelError> {
    let shapes = args.dynamics(0)?;
    let several = (0..args.rows()).any(|row| {
        let polygons = shapes.get(row).and_then(|s| polygons(DynamicRef::new(s)));
        polygons.is_some_and(|polygons| polygons.len() > 1)
    });
    if several {
        Err(KernelError::Failed(
            "this function is not supported for a MultiPolygon".to_owned(),
        ))
    } else {
        Ok(())
    }
}

/// The edges of a ring.
pub(crate) fn edges(ring: &[Point]) -> impl Iterator<Item = (Point, Point)> + '_ {
    let next = ring.iter().copied().cycle().skip(1);
    ring.iter().copied().zip(next)
}

/// The area that a ring encloses on the unit sphere; the ring's interior is the smaller side.
fn area(ring: &[Point]) -> f64 {
    let signed = signed_area(ring).abs();
    signed.min(2.0 * TAU - signed)
}

fn signed_area(ring: &[Point]) -> f64 {
    let Some((first, rest)) = ring.split_first() else {
        return 0.0;
    };
    rest.windows(2)
        .map(|edge| match edge {
            [a, b] => {
                let around = 1.0 + first.dot(*a) + a.dot(*b) + b.dot(*first);
                2.0 * first.dot(a.cross(*b)).atan2(around)
            }
            _ => 0.0,
        })
        .sum()
}

/// The integral of all points inside a ring, oriented counter-clockwise regardless of the ring's direction.
fn moment(ring: &[Point]) -> Point {
    let sum = edges(ring).fold(Point::ZERO, |sum, (a, b)| {
        sum.plus(a.cross(b).unit().times(a.angle(b) / 2.0))
    });
    if signed_area(ring) < 0.0 {
        sum.times(-1.0)
    } else {
        sum
    }
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

/// Whether the edges wind around the point. The edges also wind around the point's antipode, so the point must be on the
/// ring's side of the sphere.
fn inside(ring: &[Point], point: Point) -> bool {
    let turn: f64 = edges(ring)
        .map(|(a, b)| {
            let (to_a, to_b) = (point.cross(a), point.cross(b));
            to_a.cross(to_b).dot(point).atan2(to_a.dot(to_b))
        })
        .sum();
    turn.abs() > TAU / 2.0 && moment(ring).dot(point) > 0.0
}
