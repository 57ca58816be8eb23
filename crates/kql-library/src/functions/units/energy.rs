//! `convert_energy`.

use super::factor::{Factor, by_factor};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["convert_energy(value: int|long|real, from: string, to: string) -> real"],
    "An energy converted to another unit; null if a unit is unknown.",
    ResultName::None,
    &[example(
        "print e = convert_energy(2, 'KilowattHour', 'Kilojoule')",
        "e:real\n7200.0",
    )],
    |args| by_factor(args, UNITS),
);

/// Units in joules.
static UNITS: &[Factor] = &[
    ("Joule", 1.0),
    ("Millijoule", 1e-3),
    ("Kilojoule", 1e3),
    ("Megajoule", 1e6),
    ("Gigajoule", 1e9),
    ("Calorie", 4.184),
    ("Kilocalorie", 1e3 * 4.184),
    ("Megacalorie", 1e6 * 4.184),
    ("BritishThermalUnit", 1055.05585262),
    ("KilobritishThermalUnit", 1e3 * 1055.05585262),
    ("MegabritishThermalUnit", 1e6 * 1055.05585262),
    ("GigabritishThermalUnit", 1e9 * 1055.05585262),
    ("ElectronVolt", 1.602176565e-19),
    ("KiloelectronVolt", 1e3 * 1.602176565e-19),
    ("MegaelectronVolt", 1e6 * 1.602176565e-19),
    ("GigaelectronVolt", 1e9 * 1.602176565e-19),
    ("TeraelectronVolt", 1e12 * 1.602176565e-19),
    ("FootPound", 1.355817948),
    ("Erg", 1e-7),
    ("WattHour", 3600.0),
    ("KilowattHour", 1e3 * 3600.0),
    ("MegawattHour", 1e6 * 3600.0),
    ("GigawattHour", 1e9 * 3600.0),
    ("TerawattHour", 1e12 * 3600.0),
    ("WattDay", 86400.0),
    ("KilowattDay", 1e3 * 86400.0),
    ("MegawattDay", 1e6 * 86400.0),
    ("GigawattDay", 1e9 * 86400.0),
    ("TerawattDay", 1e12 * 86400.0),
    ("ThermEc", 1.05505585262e8),
    ("DecathermEc", 10.0 * 1.05505585262e8),
    ("ThermUs", 1.054804e8),
    ("DecathermUs", 10.0 * 1.054804e8),
    ("ThermImperial", 1.05505585257348e8),
    ("DecathermImperial", 10.0 * 1.05505585257348e8),
    ("HorsepowerHour", 2.6845195377e6),
];
