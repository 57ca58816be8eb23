//! `geo_angle` (`docs/semantics.md §27`).

use std::f64::consts::TAU;

use super::sphere::Point;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &[
        "geo_angle(p1_longitude: real, p1_latitude: real, p2_longitude: real, p2_latitude: real, p3_longitude: real, p3_latitude: real) -> real",
    ],
    "The clockwise angle at the second point from the line to the first to the line to the third, from 0 to 2π; null for equal points.",
    ResultName::None,
    &[example(
        "print a = round(geo_angle(0, 10, 0, 0, 10, 0), 6)",
        "a:real\n1.570796",
    )],
    |args| {
        let columns: Vec<_> = (0..6).map(|i| args.reals(i)).collect::<Result<_, _>>()?;
        Ok(args.collect_reals(|row| {
            let number = |index: usize| columns.get(index)?.get(row);
            let point = |index: usize| Point::at(number(index)?, number(index + 1)?);
            clockwise(point(0)?, point(2)?, point(4)?)
        }))
    },
);

/// The angle at `at`: the angle between the planes of the two great circles through it.
fn clockwise(from: Point, at: Point, to: Point) -> Option<f64> {
    if from == at || at == to {
        return None;
    }
    let (first, second) = (at.cross(from), at.cross(to));
    // Seen from outside the sphere, this angle is counterclockwise.
    let angle = at.dot(first.cross(second)).atan2(first.dot(second));
    // `0.0 -` keeps the angle of equal directions from being -0.
    let clockwise = 0.0 - angle;
    Some(if clockwise < 0.0 {
        clockwise + TAU
    } else {
        clockwise
    })
}
