//! `geo_point_buffer`, `geo_line_buffer` and `geo_polygon_buffer`: the points within a distance (`docs/semantics.md §27`).
//!
//! The circles are approximated as the S2 library does it: the arcs have equal steps from their first end, as long as the
//! tolerance allows.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::arcs::normal;
use super::metres::metres;
use super::overlay::{Ring, rings, union};
use super::shape::{Collection, lines, polygons};
use super::sphere::{Point, RADIUS};
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

pub(crate) static POINT: ScalarFunction = function(
    &[
        "geo_point_buffer(longitude: real, latitude: real, radius: number, [tolerance: number]) -> dynamic",
    ],
    "The polygon of the points within a radius in metres of a point, with a tolerance of 10 metres by default; null if an argument is not valid.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_point_buffer(-115, 36, 20000).coordinates[0])",
        "n:long\n101",
    )],
    |args| {
        let center = (args.reals(0)?, args.reals(1)?);
        let arc = Arc::of(args, 2)?;
        each(args, |row, encoder| {
            let number = row.number();
            let center = Point::at(center.0.get(number)?, center.1.get(number)?)?;
            let arc = arc(number)?;
            let (start, up) = (center.orthogonal(), center.cross(center.orthogonal()));
            let count = (TAU / arc.step).ceil();
            let ring = (0..count as usize)
                .map(|i| TAU * i as f64 / count)
                .map(|angle| center.on_ray(start.on_ray(up, angle), arc.radius));
            let polygons = vec![vec![ring.collect()]];
            write(polygons, encoder);
            Some(())
        })
    },
);

pub(crate) static LINE: ScalarFunction = function(
    &["geo_line_buffer(line: dynamic, radius: number, [tolerance: number]) -> dynamic"],
    "The polygon of the points within a radius in metres of a line, with a tolerance of 10 metres by default; null if an argument is not valid.",
    ResultName::None,
    &[example(
        "print b = geo_line_buffer(dynamic({'type': 'LineString', 'coordinates': [[0, 0], [1, 1]]}), 0)",
        "b:dynamic\nnull",
    )],
    |args| {
        buffer(args, |row| {
            let around = |line: Vec<Point>| {
                // There and back again.
                let back = line.iter().rev().skip(1).take(line.len() - 2);
                let points = line.iter().chain(back).copied().collect();
                Ring {
                    points,
                    outer: true,
                }
            };
            Some(lines(row.dynamic(0))?.into_iter().map(around).collect())
        })
    },
);

pub(crate) static POLYGON: ScalarFunction = function(
    &["geo_polygon_buffer(polygon: dynamic, radius: number, [tolerance: number]) -> dynamic"],
    "The polygon of the points within a radius in metres of a polygon, with a tolerance of 10 metres by default; null if an argument is not valid.",
    ResultName::None,
    &[example(
        "print b = geo_polygon_buffer(dynamic({'type': 'Polygon', 'coordinates': [[[10, 10], [0, 10], [0, 0], [10, 10]]]}), 0)",
        "b:dynamic\nnull",
    )],
    |args| buffer(args, |row| Some(rings(&polygons(row.dynamic(0))?))),
);

/// The tolerance in metres of a call without one.
const DEFAULT_TOLERANCE: f64 = 10.0;

/// The radius of a buffer and the steps of its arcs, in radians.
#[derive(Debug, Clone, Copy)]
struct Arc {
    radius: f64,
    step: f64,
}

impl Arc {
    /// The arcs of the rows of a call whose arguments from `index` on are a radius and a tolerance.
    fn of<'a>(
        args: &KernelArgs<'a>,
        index: usize,
    ) -> Result<impl Fn(usize) -> Option<Arc> + use<'a>, KernelError> {
        let radius = args.reals(index)?;
        let tolerance = metres(args, index + 1, DEFAULT_TOLERANCE)?;
        Ok(move |row| {
            let radius = radius.get(row).filter(|r| *r > 0.0)? / RADIUS;
            let tolerance = tolerance(row).filter(|t| *t > 0.0)? / RADIUS;
            // Circles of more than a quarter of the sphere are not supported.
            (radius < FRAC_PI_2).then(|| {
                let least = (radius - tolerance).max(0.0);
                let step = 2.0 * (least.tan() / radius.tan()).acos();
                Arc {
                    radius,
                    step: step.clamp(MIN_STEP, TAU / 3.0),
                }
            })
        })
    }
}

/// The shortest step of an arc in radians: at most 10,000 points are on a circle.
const MIN_STEP: f64 = TAU / 10_000.0;

/// The union of the rings moved outward. The region of a ring is on its left.
fn buffer(args: &KernelArgs<'_>, rings: impl Fn(Row<'_>) -> Option<Vec<Ring>>) -> KernelResult {
    let arc = Arc::of(args, 1)?;
    each(args, |row, encoder| {
        let arc = arc(row.number())?;
        let moved = rings(row)?
            .into_iter()
            .map(|ring| moved(&ring, arc))
            .collect();
        write(union(moved)?, encoder);
        Some(())
    })
}

fn write(polygons: Vec<Vec<Vec<Point>>>, encoder: &mut hindsight_kql_types::Encoder) {
    Collection {
        polygons,
        ..Collection::default()
    }
    .write(encoder);
}

/// The ring at the radius to the right of a ring. Where the ring turns left, an arc joins its edges; where it turns right, the
/// edges meet at the corner itself, and the union removes what is inside.
fn moved(ring: &Ring, arc: Arc) -> Ring {
    let points = &ring.points;
    let before = points.iter().cycle().skip(points.len() - 1);
    let after = points.iter().cycle().skip(1);
    let mut moved = Vec::new();
    let mut first_block = 0;
    for ((corner, before), after) in points.iter().zip(before).zip(after) {
        let (start, end) = (normal(*before, *corner), normal(*corner, *after));
        let (start, end) = (start.unit().times(-1.0), end.unit().times(-1.0));
        let up = corner.cross(start);
        let turn = end.dot(up).atan2(end.dot(start));
        // A line turns around at its ends.
        let turn = if before == after { PI } else { turn };
        moved.push(corner.on_ray(start, arc.radius));
        if turn < 0.0 {
            moved.push(*corner);
        }
        let steps = (1..).map(|i| f64::from(i) * arc.step);
        for angle in steps.take_while(|angle| *angle < turn) {
            moved.push(corner.on_ray(start.on_ray(up, angle), arc.radius));
        }
        moved.push(corner.on_ray(end, arc.radius));
        if first_block == 0 {
            first_block = moved.len();
        }
    }
    let is_line = points.len() == 2 || points.get(1) == points.last();
    if !is_line {
        // A polygon's buffer begins at its first edge, a line's at its first point.
        moved.rotate_left(first_block - 1);
    }
    Ring {
        points: moved,
        outer: ring.outer,
    }
}
