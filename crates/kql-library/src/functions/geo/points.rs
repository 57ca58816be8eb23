//! Functions on points: `geo_azimuth`, `geo_distance_2points`, `geo_point_in_circle`.

use std::f64::consts::TAU;

use super::sphere::{Point, RADIUS};
use crate::functions::prelude::*;

pub(crate) static AZIMUTH: ScalarFunction = function(
    &["geo_azimuth(longitude1: real, latitude1: real, longitude2: real, latitude2: real) -> real"],
    "The direction from one point to another in radians, clockwise from north, from 0 to 2π; null if the points are equal.",
    ResultName::None,
    &[example(
        "print a = round(geo_azimuth(0, 0, 10, 0), 6)",
        "a:real\n1.570796",
    )],
    |args| numbers(args, |[a, b, c, d]| azimuth((a, b), (c, d))),
);

pub(crate) static DISTANCE: ScalarFunction = function(
    &[
        "geo_distance_2points(longitude1: real, latitude1: real, longitude2: real, latitude2: real) -> real",
    ],
    "The shortest distance between two points of the sphere in metres.",
    ResultName::None,
    &[example(
        "print d = round(geo_distance_2points(0, 0, 0, 90), 3)",
        "d:real\n10007559.106",
    )],
    |args| {
        numbers(args, |[a, b, c, d]| {
            Some(Point::at(a, b)?.angle(Point::at(c, d)?) * RADIUS)
        })
    },
);

pub(crate) static IN_CIRCLE: ScalarFunction = function(
    &[
        "geo_point_in_circle(longitude: real, latitude: real, center_longitude: real, center_latitude: real, radius: real) -> bool",
    ],
    "Whether a point lies within a radius in metres of another point.",
    ResultName::None,
    &[example(
        "print near = geo_point_in_circle(0, 0, 0, 1, 112000), far = geo_point_in_circle(0, 0, 0, 1, 111000)",
        "near:bool, far:bool\ntrue | false",
    )],
    |args| {
        let columns: Vec<_> = (0..5).map(|i| args.reals(i)).collect::<Result<_, _>>()?;
        Ok(args.collect_bools(|row| {
            let number = |index: usize| columns.get(index)?.get(row);
            let point = Point::at(number(0)?, number(1)?)?;
            let center = Point::at(number(2)?, number(3)?)?;
            let radius = number(4).filter(|r| *r > 0.0)?;
            Some(point.angle(center) * RADIUS <= radius)
        }))
    },
);

fn numbers(args: &KernelArgs<'_>, f: impl Fn([f64; 4]) -> Option<f64>) -> KernelResult {
    let (a, b) = (args.reals(0)?, args.reals(1)?);
    let (c, d) = (args.reals(2)?, args.reals(3)?);
    Ok(args.collect_reals(|row| f([a.get(row)?, b.get(row)?, c.get(row)?, d.get(row)?])))
}

fn azimuth(from: (f64, f64), to: (f64, f64)) -> Option<f64> {
    if Point::at(from.0, from.1)? == Point::at(to.0, to.1)? {
        return None;
    }
    let across = (to.0 - from.0).to_radians();
    let (from, to) = (from.1.to_radians(), to.1.to_radians());
    let east = across.sin() * to.cos();
    let north = from.cos() * to.sin() - from.sin() * to.cos() * across.cos();
    // `+ 0.0` keeps the direction to the north from being -0.
    let azimuth = east.atan2(north) + 0.0;
    Some(if azimuth < 0.0 {
        azimuth + TAU
    } else {
        azimuth
    })
}
