//! The gamma function, its logarithm, and the error functions.

use super::map::map;
use crate::functions::prelude::*;

pub(crate) static GAMMA: ScalarFunction = function(
    &["gamma(number: bool|number) -> real"],
    "The gamma function; for an integer n, the factorial of n - 1.",
    ResultName::FirstArgument,
    &[example("print r = gamma(6)", "r:real\n120.0")],
    |args| map(args, libm::tgamma),
);

pub(crate) static LOGGAMMA: ScalarFunction = function(
    &["loggamma(number: bool|number) -> real"],
    "The natural logarithm of the absolute value of the gamma function.",
    ResultName::FirstArgument,
    &[example("print r = loggamma(1)", "r:real\n0.0")],
    |args| map(args, libm::lgamma),
);

pub(crate) static ERF: ScalarFunction = function(
    &["erf(number: bool|number) -> real"],
    "The error function.",
    ResultName::FirstArgument,
    &[example("print r = erf(0)", "r:real\n0.0")],
    |args| map(args, libm::erf),
);

pub(crate) static ERFC: ScalarFunction = function(
    &["erfc(number: bool|number) -> real"],
    "The complementary error function, accurate also for results near 0.",
    ResultName::FirstArgument,
    &[example("print r = erfc(0)", "r:real\n1.0")],
    |args| map(args, libm::erfc),
);
