//! `convert_angle`.

use super::factor::{Factor, by_factor};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["convert_angle(value: int|long|real, from: string, to: string) -> real"],
    "An angle converted to another unit; null if a unit is unknown.",
    ResultName::None,
    &[example(
        "print a = convert_angle(0.5, 'Revolution', 'Degree')",
        "a:real\n180.0",
    )],
    |args| by_factor(args, UNITS),
);

/// Units in degrees.
static UNITS: &[Factor] = &[
    ("Radian", 180.0 / std::f64::consts::PI),
    ("Nanoradian", 1e-9 * 180.0 / std::f64::consts::PI),
    ("Microradian", 1e-6 * 180.0 / std::f64::consts::PI),
    ("Milliradian", 1e-3 * 180.0 / std::f64::consts::PI),
    ("Centiradian", 1e-2 * 180.0 / std::f64::consts::PI),
    ("Deciradian", 0.1 * 180.0 / std::f64::consts::PI),
    ("Degree", 1.0),
    ("Nanodegree", 1e-9),
    ("Microdegree", 1e-6),
    ("Millidegree", 1e-3),
    ("Arcminute", 1.0 / 60.0),
    ("Arcsecond", 1.0 / 3600.0),
    ("Gradian", 0.9),
    ("NatoMil", 9.0 / 160.0),
    ("Revolution", 360.0),
];
