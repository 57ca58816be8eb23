//! `convert_force`.

use super::factor::{Factor, by_factor};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["convert_force(value: int|long|real, from: string, to: string) -> real"],
    "A force converted to another unit; null if a unit is unknown.",
    ResultName::None,
    &[example(
        "print f = convert_force(3, 'Kilonewton', 'Newton')",
        "f:real\n3000.0",
    )],
    |args| by_factor(args, UNITS),
);

/// Units in newtons.
static UNITS: &[Factor] = &[
    ("Newton", 1.0),
    ("Micronewton", 1e-6),
    ("Millinewton", 1e-3),
    ("Decanewton", 10.0),
    ("Kilonewton", 1e3),
    ("Meganewton", 1e6),
    ("Dyn", 1e-5),
    ("KilogramForce", 9.80665002864),
    ("KiloPond", 9.80665002864),
    ("TonneForce", 9.80665002864e3),
    ("Poundal", 0.138_255_027_989_730_4),
    ("PoundForce", 4.448_221_615_260_509),
    ("KilopoundForce", 4.448_221_615_260_51e3),
    ("OunceForce", 0.2780138509537812),
    ("ShortTonForce", 8.896443230521e3),
];
