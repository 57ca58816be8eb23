//! `convert_temperature`.

use super::factor::convert;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["convert_temperature(value: int|long|real, from: string, to: string) -> real"],
    "A temperature converted to another scale; null if a scale is unknown.",
    ResultName::None,
    &[example(
        "print t = convert_temperature(300.5, 'Kelvin', 'SolarTemperature') < 1",
        "t:bool\ntrue",
    )],
    |args| convert(args, scale),
);

/// The kelvins per degree, and the kelvins at zero degrees.
fn scale(name: &str) -> Option<(f64, f64)> {
    Some(match name {
        "Kelvin" => (1.0, 0.0),
        "DegreeCelsius" => (1.0, 273.15),
        "MillidegreeCelsius" => (1e-3, 273.15),
        "DegreeDelisle" => (-2.0 / 3.0, 373.15),
        "DegreeFahrenheit" => (5.0 / 9.0, 459.67 * 5.0 / 9.0),
        "DegreeNewton" => (100.0 / 33.0, 273.15),
        "DegreeRankine" => (5.0 / 9.0, 0.0),
        "DegreeReaumur" => (1.25, 273.15),
        "DegreeRoemer" => (40.0 / 21.0, 273.15 - 7.5 * 40.0 / 21.0),
        "SolarTemperature" => (5778.0, 0.0),
        _ => return None,
    })
}
