//! `convert_speed`.

use super::factor::{Factor, by_factor};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["convert_speed(value: int|long|real, from: string, to: string) -> real"],
    "A speed converted to another unit; null if a unit is unknown.",
    ResultName::None,
    &[example(
        "print s = convert_speed(1, 'MeterPerSecond', 'CentimeterPerSecond')",
        "s:real\n100.0",
    )],
    |args| by_factor(args, UNITS),
);

/// Units in metres per second.
static UNITS: &[Factor] = &[
    ("MeterPerSecond", 1.0),
    ("MeterPerMinute", 1.0 / 60.0),
    ("MeterPerHour", 1.0 / 3600.0),
    ("CentimeterPerSecond", 1e-2),
    ("CentimeterPerMinute", 1e-2 / 60.0),
    ("CentimeterPerHour", 1e-2 / 3600.0),
    ("DecimeterPerSecond", 0.1),
    ("DecimeterPerMinute", 0.1 / 60.0),
    ("KilometerPerSecond", 1e3),
    ("KilometerPerMinute", 1e3 / 60.0),
    ("KilometerPerHour", 1e3 / 3600.0),
    ("MillimeterPerSecond", 1e-3),
    ("MillimeterPerMinute", 1e-3 / 60.0),
    ("MillimeterPerHour", 1e-3 / 3600.0),
    ("MicrometerPerSecond", 1e-6),
    ("MicrometerPerMinute", 1e-6 / 60.0),
    ("NanometerPerSecond", 1e-9),
    ("NanometerPerMinute", 1e-9 / 60.0),
    ("FootPerSecond", 0.3048),
    ("FootPerMinute", 0.3048 / 60.0),
    ("FootPerHour", 0.3048 / 3600.0),
    ("UsSurveyFootPerSecond", 1200.0 / 3937.0),
    ("UsSurveyFootPerMinute", 1200.0 / 3937.0 / 60.0),
    ("UsSurveyFootPerHour", 1200.0 / 3937.0 / 3600.0),
    ("InchPerSecond", 2.54e-2),
    ("InchPerMinute", 2.54e-2 / 60.0),
    ("InchPerHour", 2.54e-2 / 3600.0),
    ("YardPerSecond", 0.9144),
    ("YardPerMinute", 0.9144 / 60.0),
    ("YardPerHour", 0.9144 / 3600.0),
    ("Knot", 0.514444),
    ("MilePerHour", 0.44704),
];
