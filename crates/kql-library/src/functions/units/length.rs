//! `convert_length`.

use super::factor::{Factor, by_factor};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["convert_length(value: int|long|real, from: string, to: string) -> real"],
    "A length converted to another unit; null if a unit is unknown.",
    ResultName::None,
    &[example(
        "print l = convert_length(3, 'Kilometer', 'Meter')",
        "l:real\n3000.0",
    )],
    |args| by_factor(args, UNITS),
);

/// Units in metres.
static UNITS: &[Factor] = &[
    ("Meter", 1.0),
    ("Nanometer", 1e-9),
    ("Micrometer", 1e-6),
    ("Millimeter", 1e-3),
    ("Centimeter", 1e-2),
    ("Decimeter", 0.1),
    ("Decameter", 10.0),
    ("Hectometer", 100.0),
    ("Kilometer", 1e3),
    ("Angstrom", 1e-10),
    ("AstronomicalUnit", 1.4959787070e11),
    ("Chain", 20.1168),
    ("DataMile", 1828.8),
    ("DtpPica", 1.0 / 236.220472441),
    ("DtpPoint", 2.54e-2 / 72.0),
    ("Fathom", 1.8288),
    ("Foot", 0.3048),
    ("Hand", 0.1016),
    ("Inch", 2.54e-2),
    ("LightYear", 9.46073047258e15),
    ("KilolightYear", 1e3 * 9.46073047258e15),
    ("MegalightYear", 1e6 * 9.46073047258e15),
    ("Parsec", 3.08567758128e16),
    ("Kiloparsec", 1e3 * 3.08567758128e16),
    ("Megaparsec", 1e6 * 3.08567758128e16),
    ("Microinch", 2.54e-8),
    ("Mil", 2.54e-5),
    ("Mile", 1609.34),
    ("NauticalMile", 1852.0),
    ("PrinterPica", 1.0 / 237.106301584),
    ("PrinterPoint", 2.54e-2 / 72.27),
    ("Shackle", 27.432),
    ("SolarRadius", 6.9551e8),
    ("Twip", 1.0 / 56692.913385826),
    ("UsSurveyFoot", 1200.0 / 3937.0),
    ("Yard", 0.9144),
];
