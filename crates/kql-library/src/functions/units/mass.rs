//! `convert_mass`.

use super::factor::{Factor, by_factor};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["convert_mass(value: int|long|real, from: string, to: string) -> real"],
    "A mass converted to another unit; null if a unit is unknown.",
    ResultName::None,
    &[example(
        "print m = convert_mass(3, 'Tonne', 'Kilogram')",
        "m:real\n3000.0",
    )],
    |args| by_factor(args, UNITS),
);

/// Units in kilograms.
static UNITS: &[Factor] = &[
    ("Gram", 1e-3),
    ("Nanogram", 1e-9 * 1e-3),
    ("Microgram", 1e-6 * 1e-3),
    ("Milligram", 1e-3 * 1e-3),
    ("Centigram", 1e-2 * 1e-3),
    ("Decigram", 0.1 * 1e-3),
    ("Decagram", 10.0 * 1e-3),
    ("Hectogram", 100.0 * 1e-3),
    ("Kilogram", 1.0),
    ("Tonne", 1e3),
    ("Kilotonne", 1e3 * 1e3),
    ("Megatonne", 1e6 * 1e3),
    ("Pound", 0.45359237),
    ("Kilopound", 1e3 * 0.45359237),
    ("Megapound", 1e6 * 0.45359237),
    ("ShortTon", 9.0718474e2),
    ("LongTon", 1.0160469088e3),
    ("Ounce", 1.0 / 35.2739619),
    ("Slug", 1.0 / 6.852176556196105e-2),
    ("Stone", 1.0 / 0.1574731728702698),
    ("ShortHundredweight", 1.0 / 0.022046226218487758),
    ("LongHundredweight", 1.0 / 0.01968413055222121),
    ("Grain", 1.0 / 15432.358352941431),
    ("SolarMass", 1.98947e30),
    ("EarthMass", 5.9722e24),
];
