//! Rings of points of the sphere, which do not repeat the first point at the end.

use std::f64::consts::TAU;

use super::shape::Polygon;
use super::sphere::Point;

/// The edges of a ring.
pub(crate) fn edges(ring: &[Point]) -> impl Iterator<Item = (Point, Point)> + '_ {
    let next = ring.iter().copied().cycle().skip(1);
    ring.iter().copied().zip(next)
}

/// The area that a ring encloses on the unit sphere; the ring's interior is the smaller side.
pub(crate) fn area(ring: &[Point]) -> f64 {
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

/// Whether a ring of longitudes and latitudes, which repeats its first point at the end, encloses the smaller side of the
/// sphere on its left; `None` if a point is not valid.
pub(crate) fn is_counterclockwise(ring: &[(f64, f64)]) -> Option<bool> {
    let points = ring.iter().skip(1).map(|(x, y)| Point::at(*x, *y));
    Some(is_left(&points.collect::<Option<Vec<Point>>>()?))
}

/// Whether the smaller side of a ring is on its left.
pub(crate) fn is_left(ring: &[Point]) -> bool {
    let signed = signed_area(ring);
    (signed > 0.0) == (signed.abs() <= TAU)
}

/// The integral of all points inside a ring, oriented counter-clockwise regardless of the ring's direction. It is the sum over
/// triangles from the first point, which keeps the digits of small rings.
pub(crate) fn moment(ring: &[Point]) -> Point {
    let Some((first, rest)) = ring.split_first() else {
        return Point::ZERO;
    };
    let sum = rest.windows(2).fold(Point::ZERO, |sum, edge| match edge {
        [a, b] => sum.plus(moment_of_triangle(*first, *a, *b)),
        _ => sum,
    });
    if signed_area(ring) < 0.0 {
        sum.times(-1.0)
    } else {
        sum
    }
}

/// The integral over a triangle, positive counter-clockwise. The sum of its edges' parts is written in differences of the points,
/// as in the S2 library.
fn moment_of_triangle(a: Point, b: Point, c: Point) -> Point {
    let ratio = |p: Point, q: Point| {
        let angle = p.angle(q);
        if angle == 0.0 {
            1.0
        } else {
            angle / angle.sin()
        }
    };
    let (ra, rb, rc) = (ratio(b, c), ratio(c, a), ratio(a, b));
    let vector = |x: f64, y: f64, z: f64| Point { x, y, z };
    let x = vector(a.x, b.x - a.x, c.x - a.x);
    let y = vector(a.y, b.y - a.y, c.y - a.y);
    let z = vector(a.z, b.z - a.z, c.z - a.z);
    let ratios = vector(ra, rb - ra, rc - ra);
    vector(
        y.cross(z).dot(ratios),
        z.cross(x).dot(ratios),
        x.cross(y).dot(ratios),
    )
    .times(0.5)
}

/// Whether the edges wind around the point. The edges also wind around the point's antipode, so the point must be on the
/// ring's side of the sphere.
pub(crate) fn inside(ring: &[Point], point: Point) -> bool {
    let turn: f64 = edges(ring)
        .map(|(a, b)| {
            let (to_a, to_b) = (point.cross(a), point.cross(b));
            to_a.cross(to_b).dot(point).atan2(to_a.dot(to_b))
        })
        .sum();
    turn.abs() > TAU / 2.0 && moment(ring).dot(point) > 0.0
}

/// The polygons of outer rings and holes. A hole belongs to the smallest ring around it; a hole outside of all rings is dropped.
pub(crate) fn nested(
    outer: impl IntoIterator<Item = Vec<Point>>,
    holes: Vec<Vec<Point>>,
) -> Vec<Polygon> {
    let outer_area = |polygon: &Polygon| polygon.first().map_or(0.0, |ring| area(ring));
    let mut polygons: Vec<Polygon> = outer.into_iter().map(|ring| vec![ring]).collect();
    for hole in holes {
        let Some((a, b)) = edges(&hole).next() else {
            continue;
        };
        let middle = a.plus(b).unit();
        let around = polygons
            .iter_mut()
            .filter(|polygon| polygon.first().is_some_and(|ring| inside(ring, middle)))
            .min_by(|a, b| outer_area(a).total_cmp(&outer_area(b)));
        if let Some(polygon) = around {
            polygon.push(hole);
        }
    }
    polygons
}
