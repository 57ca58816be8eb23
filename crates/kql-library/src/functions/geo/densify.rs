//! `geo_line_densify` and `geo_polygon_densify`: planar edges as chains of geodesics (`docs/semantics.md §27`).

use super::metres::metres;
use super::ring::is_counterclockwise;
use super::shape::{Pairs, line_pairs, ring_pairs, write_lines, write_polygons};
use super::sphere::{Point, RADIUS};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static LINE: ScalarFunction = function(
    &["geo_line_densify(line: dynamic, [tolerance: number], [preserve_crossing: bool]) -> dynamic"],
    "The line with points added so that its geodesics stay within a tolerance of the planar edges, by default 10 metres. It is cut at the antimeridian unless crossings are preserved.",
    ResultName::None,
    &[example(
        "print l = geo_line_densify(dynamic({'type': 'LineString', 'coordinates': [[11, 10], [11, 11]]}))",
        "l:dynamic\n{\"type\":\"LineString\",\"coordinates\":[[11.0,10.0],[11.0,11.0]]}",
    )],
    |args| {
        let tolerance = metres(args, 1, DEFAULT_TOLERANCE)?;
        each(args, |row, encoder| {
            let tolerance = tolerance(row.number()).filter(|t| TOLERANCES.contains(t))?;
            let preserve = row.bool(2).unwrap_or(false);
            let mut dense: Vec<Pairs> = Vec::new();
            for line in line_pairs(row.dynamic(0))? {
                let line = densify(&line, tolerance, args)?;
                if preserve {
                    dense.push(line.into_iter().map(normal).collect());
                } else {
                    dense.extend(cut_at_antimeridian(&line));
                }
            }
            write_lines(&dense, encoder);
            Some(())
        })
    },
);

pub(crate) static POLYGON: ScalarFunction = function(
    &[
        "geo_polygon_densify(polygon: dynamic, [tolerance: number], [preserve_crossing: bool]) -> dynamic",
    ],
    "The polygon with points added so that its geodesics stay within a tolerance of the planar edges, by default 10 metres.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_polygon_densify(dynamic({'type': 'Polygon', 'coordinates': [[[10, 10], [11, 10], [11, 11], [10, 11], [10, 10]]]})).coordinates[0])",
        "n:long\n11",
    )],
    |args| {
        let tolerance = metres(args, 1, DEFAULT_TOLERANCE)?;
        each(args, |row, encoder| {
            let tolerance = tolerance(row.number()).filter(|t| TOLERANCES.contains(t))?;
            let ring = |(index, mut ring): (usize, Pairs)| {
                // Outer rings are counter-clockwise and holes clockwise.
                if is_counterclockwise(&ring)? != (index == 0) {
                    ring.pop();
                    ring.reverse();
                    ring.extend(ring.first().copied());
                }
                densify(&ring, tolerance, args)
            };
            let polygons: Option<Vec<Vec<Pairs>>> = ring_pairs(row.dynamic(0))?
                .into_iter()
                .map(|rings| rings.into_iter().enumerate().map(ring).collect())
                .collect();
            write_polygons(&polygons?, encoder);
            Some(())
        })
    },
);

/// The tolerance in metres of a call without one.
const DEFAULT_TOLERANCE: f64 = 10.0;

/// The tolerances in metres.
const TOLERANCES: std::ops::RangeInclusive<f64> = 0.1..=10_000.0;

/// The most points of a line.
const MAX_POINTS: usize = 10_485_760;

/// The chain of points; `None` if the query is cancelled, if there are too many points or too few, or if two are equal. The
/// method and its constants are those of the edge tessellator of the S2 library: it compares an edge and its geodesic at the
/// fractions where they differ most.
fn densify(line: &[(f64, f64)], tolerance: f64, args: &KernelArgs<'_>) -> Option<Pairs> {
    const FRACTION: f64 = 0.312_156_910_822_482_13;
    const SCALE: f64 = 0.838_299_925_698_885_1;
    let tolerance = tolerance / RADIUS * SCALE;
    let mut dense = vec![*line.first()?];
    for edge in line.windows(2) {
        let [from, to] = edge else { return None };
        if from == to {
            return None;
        }
        let mut edges = vec![(*from, *to)];
        while let Some((from, to)) = edges.pop() {
            let (a, b) = (on_sphere(from)?, on_sphere(to)?);
            let at = |fraction: f64| {
                (
                    from.0 + (to.0 - from.0) * fraction,
                    from.1 + (to.1 - from.1) * fraction,
                )
            };
            let far = |fraction: f64| {
                let planar = on_sphere(at(fraction))?;
                Some(planar.plus(a.between(b, fraction).times(-1.0)).length())
            };
            let is_close = a == b
                || a.dot(b) >= -1e-14
                    && far(FRACTION)? <= tolerance
                    && far(1.0 - FRACTION)? <= tolerance;
            if is_close {
                dense.push(to);
            } else {
                edges.push((at(0.5), to));
                edges.push((from, at(0.5)));
            }
            if dense.len() > MAX_POINTS || !args.limits().should_continue() {
                return None;
            }
        }
    }
    // The corners too are converted to the sphere and back, which may change their last digit.
    let on_sphere = |point| Some(on_sphere(point)?.degrees());
    let dense = dense
        .into_iter()
        .map(on_sphere)
        .collect::<Option<Pairs>>()?;
    (dense.len() > 1).then_some(dense)
}

/// The point of the sphere; its longitude may be beyond ±180 (`docs/semantics.md §27`).
fn on_sphere((longitude, latitude): (f64, f64)) -> Option<Point> {
    let turns = (longitude / 360.0).round();
    longitude
        .is_finite()
        .then(|| Point::at(longitude - 360.0 * turns, latitude))?
}

fn normal((longitude, latitude): (f64, f64)) -> (f64, f64) {
    (longitude - 360.0 * (longitude / 360.0).round(), latitude)
}

/// The ends of a cut line lie this close to the antimeridian.
const EDGE_OF_MAP: f64 = 179.999_999_999_999;

/// The parts of a line between its crossings of the antimeridian.
fn cut_at_antimeridian(line: &[(f64, f64)]) -> Vec<Pairs> {
    let mut parts = Vec::new();
    let mut part: Pairs = Vec::new();
    for point in line.iter().map(|point| normal(*point)) {
        if let Some(last) = part.last().copied()
            && (last.0 - point.0).abs() > 180.0
        {
            let side = last.0.signum();
            let latitude = crossing_latitude(last, point);
            part.push((side * EDGE_OF_MAP, latitude));
            parts.push(std::mem::replace(
                &mut part,
                vec![(-side * EDGE_OF_MAP, latitude)],
            ));
        }
        part.push(point);
    }
    parts.push(part);
    parts
}

/// The latitude at which the geodesic between two points crosses the antimeridian.
fn crossing_latitude(from: (f64, f64), to: (f64, f64)) -> f64 {
    let (Some(a), Some(b)) = (on_sphere(from), on_sphere(to)) else {
        return from.1;
    };
    let meridian = Point {
        x: 0.0,
        y: 1.0,
        z: 0.0,
    };
    let crossing = a.cross(b).cross(meridian);
    let crossing = if crossing.x > 0.0 {
        crossing.times(-1.0)
    } else {
        crossing
    };
    crossing.unit().degrees().1
}
