//! The points that two arcs of great circles have in common.

use super::sphere::Point;

/// Points that are closer, in radians, are one point: 64 nanometres on the earth.
pub(crate) const EPSILON: f64 = 1e-14;

/// The points in common: a crossing, the ends of one arc that lie on the other, or the ends of the common part.
pub(crate) fn common_points(a: Point, b: Point, c: Point, d: Point) -> Vec<Point> {
    let on = |point: Point, from: Point, to: Point| point.angle_to_arc(from, to) <= EPSILON;
    let mut points: Vec<Point> = Vec::new();
    let mut push = |point: Point| {
        if points.iter().all(|p| p.angle(point) > EPSILON) {
            points.push(point);
        }
    };
    for (point, from, to) in [(a, c, d), (b, c, d), (c, a, b), (d, a, b)] {
        if on(point, from, to) {
            push(point);
        }
    }
    if points.is_empty() {
        points.extend(crossing(a, b, c, d));
    }
    points
}

/// The point at which two arcs cross that do not touch.
fn crossing(a: Point, b: Point, c: Point, d: Point) -> Option<Point> {
    let (first, second) = (normal(a, b), normal(c, d));
    let (side_c, side_d) = (first.dot(c), first.dot(d));
    let (side_a, side_b) = (second.dot(a), second.dot(b));
    // Each arc's ends lie on both sides of the other arc's great circle, and the arcs are not on opposite sides of the
    // sphere.
    if !(side_c * side_d < 0.0 && side_a * side_b < 0.0 && side_a * side_d > 0.0) {
        return None;
    }
    let point = first.unit().cross(second.unit()).unit();
    Some(if point.dot(a.plus(b)) < 0.0 {
        point.times(-1.0)
    } else {
        point
    })
}

/// The normal of the plane of an arc, to the left of it. The sum and the difference keep the digits of short arcs.
pub(crate) fn normal(a: Point, b: Point) -> Point {
    a.plus(b).cross(b.plus(a.times(-1.0)))
}
