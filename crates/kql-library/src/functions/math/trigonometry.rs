//! Angles and trigonometric functions, in radians unless stated otherwise.

use super::map::{map, map_partial, map2};
use crate::functions::prelude::*;

macro_rules! one {
    ($name:literal) => {
        &[
            concat!($name, "(number: number) -> real"),
            concat!($name, "(number: bool) -> real"),
        ]
    };
}

pub(crate) static SIN: ScalarFunction = function(
    one!("sin"),
    "The sine.",
    ResultName::FirstArgument,
    &[example("print r = sin(0)", "r:real\n0.0")],
    |args| map(args, f64::sin),
);

pub(crate) static COS: ScalarFunction = function(
    one!("cos"),
    "The cosine.",
    ResultName::FirstArgument,
    &[example("print r = cos(0)", "r:real\n1.0")],
    |args| map(args, f64::cos),
);

pub(crate) static TAN: ScalarFunction = function(
    one!("tan"),
    "The tangent.",
    ResultName::FirstArgument,
    &[example("print r = tan(0)", "r:real\n0.0")],
    |args| map(args, f64::tan),
);

pub(crate) static COT: ScalarFunction = function(
    one!("cot"),
    "The cotangent; infinite at zero.",
    ResultName::None,
    &[example("print b = isinf(cot(0))", "b:bool\ntrue")],
    |args| map(args, |x| 1.0 / x.tan()),
);

pub(crate) static ASIN: ScalarFunction = function(
    one!("asin"),
    "The angle with this sine; null outside -1 to 1.",
    ResultName::FirstArgument,
    &[example("print b = isnull(asin(2))", "b:bool\ntrue")],
    |args| map_partial(args, |x| within_unit_interval(x, f64::asin)),
);

pub(crate) static ACOS: ScalarFunction = function(
    one!("acos"),
    "The angle with this cosine; null outside -1 to 1.",
    ResultName::FirstArgument,
    &[example("print r = acos(1)", "r:real\n0.0")],
    |args| map_partial(args, |x| within_unit_interval(x, f64::acos)),
);

pub(crate) static ATAN: ScalarFunction = function(
    one!("atan"),
    "The angle with this tangent.",
    ResultName::FirstArgument,
    &[example("print r = atan(0)", "r:real\n0.0")],
    |args| map(args, f64::atan),
);

pub(crate) static ATAN2: ScalarFunction = function(
    &["atan2(y: bool|number, x: bool|number) -> real"],
    "The angle between the positive x axis and the point (x, y).",
    ResultName::FirstArgument,
    &[example("print r = degrees(atan2(1, 1))", "r:real\n45.0")],
    |args| map2(args, f64::atan2),
);

pub(crate) static DEGREES: ScalarFunction = function(
    one!("degrees"),
    "An angle in radians converted to degrees.",
    ResultName::None,
    &[example("print r = degrees(pi())", "r:real\n180.0")],
    |args| map(args, |x| x * (180.0 / std::f64::consts::PI)),
);

pub(crate) static RADIANS: ScalarFunction = function(
    one!("radians"),
    "An angle in degrees converted to radians.",
    ResultName::None,
    &[example("print b = radians(180) == pi()", "b:bool\ntrue")],
    |args| map(args, |x| x * (std::f64::consts::PI / 180.0)),
);

pub(crate) static PI: ScalarFunction = function(
    &["pi() -> real"],
    "The ratio of a circle's circumference to its diameter.",
    ResultName::None,
    &[example("print r = round(pi(), 4)", "r:real\n3.1416")],
    |args| Ok(args.collect_reals(|_| Some(std::f64::consts::PI))),
);

/// Null outside the domain; NaN stays NaN.
fn within_unit_interval(x: f64, f: fn(f64) -> f64) -> Option<f64> {
    if x.abs() > 1.0 { None } else { Some(f(x)) }
}
