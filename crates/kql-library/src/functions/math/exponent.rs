//! Roots, powers and logarithms.

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

pub(crate) static SQRT: ScalarFunction = function(
    one!("sqrt"),
    "The square root; NaN for a negative number.",
    ResultName::FirstArgument,
    &[example("print r = sqrt(6.25)", "r:real\n2.5")],
    |args| map(args, f64::sqrt),
);

pub(crate) static EXP: ScalarFunction = function(
    one!("exp"),
    "e to the power of the number.",
    ResultName::FirstArgument,
    &[example("print r = exp(0)", "r:real\n1.0")],
    |args| map(args, f64::exp),
);

pub(crate) static EXP2: ScalarFunction = function(
    one!("exp2"),
    "Two to the power of the number.",
    ResultName::FirstArgument,
    &[example("print r = exp2(5)", "r:real\n32.0")],
    |args| map(args, f64::exp2),
);

// The language tables name the column after the argument; the measured engine does not.
pub(crate) static EXP10: ScalarFunction = function(
    one!("exp10"),
    "Ten to the power of the number.",
    ResultName::None,
    &[example("print r = exp10(2)", "r:real\n100.0")],
    |args| map(args, |x| 10f64.powf(x)),
);

pub(crate) static LOG: ScalarFunction = function(
    one!("log"),
    "The natural logarithm; null for a negative number, minus infinity for zero.",
    ResultName::FirstArgument,
    &[
        example("print r = log(1)", "r:real\n0.0"),
        example("print b = isnull(log(-1))", "b:bool\ntrue"),
    ],
    |args| map_partial(args, |x| logarithm(x, f64::ln)),
);

pub(crate) static LOG2: ScalarFunction = function(
    one!("log2"),
    "The base-2 logarithm; null for a negative number.",
    ResultName::FirstArgument,
    &[example("print r = log2(8)", "r:real\n3.0")],
    |args| map_partial(args, |x| logarithm(x, f64::log2)),
);

pub(crate) static LOG10: ScalarFunction = function(
    one!("log10"),
    "The base-10 logarithm; null for a negative number.",
    ResultName::FirstArgument,
    &[example("print r = log10(1000)", "r:real\n3.0")],
    |args| map_partial(args, |x| logarithm(x, f64::log10)),
);

pub(crate) static POW: ScalarFunction = function(
    &["pow(base: bool|number, exponent: bool|number) -> real"],
    "The base to the power of the exponent.",
    ResultName::None,
    &[example("print r = pow(3, 4)", "r:real\n81.0")],
    |args| map2(args, f64::powf),
);

/// A logarithm of a negative number is null; NaN stays NaN.
fn logarithm(x: f64, f: fn(f64) -> f64) -> Option<f64> {
    if x < 0.0 { None } else { Some(f(x)) }
}
