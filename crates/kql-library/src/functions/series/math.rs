//! Functions of one number, applied to every element of a series.

use super::numbers::{Number, series, write};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

macro_rules! over_elements {
    ($const:ident, $name:literal, $f:expr, $summary:literal, $argument:literal, $answer:literal) => {
        pub(crate) static $const: ScalarFunction = function(
            &[concat!($name, "(series: dynamic) -> dynamic")],
            $summary,
            ResultName::None,
            &[example(
                concat!("print s = ", $name, "(dynamic(", $argument, "))"),
                concat!("s:dynamic\n", $answer),
            )],
            |args| apply(args, |x| Number::Real($f(x.real()))),
        );
    };
}

over_elements!(
    ABS,
    "series_abs",
    f64::abs,
    "The absolute values of a series, as doubles.",
    "[-2, 0.5, null]",
    "[2.0,0.5,null]"
);
over_elements!(
    ACOS,
    "series_acos",
    f64::acos,
    "The arc cosines of a series.",
    "[1]",
    "[0.0]"
);
over_elements!(
    ASIN,
    "series_asin",
    f64::asin,
    "The arc sines of a series.",
    "[0]",
    "[0.0]"
);
over_elements!(
    ATAN,
    "series_atan",
    f64::atan,
    "The arc tangents of a series.",
    "[0]",
    "[0.0]"
);
over_elements!(
    CEILING,
    "series_ceiling",
    f64::ceil,
    "The elements of a series rounded up, as doubles.",
    "[1.2, -1.2]",
    "[2.0,-1.0]"
);
over_elements!(
    COS,
    "series_cos",
    f64::cos,
    "The cosines of a series.",
    "[0]",
    "[1.0]"
);
over_elements!(
    EXP,
    "series_exp",
    f64::exp,
    "The exponentials of a series.",
    "[0]",
    "[1.0]"
);
over_elements!(
    FLOOR,
    "series_floor",
    f64::floor,
    "The elements of a series rounded down, as doubles.",
    "[1.2, -1.2]",
    "[1.0,-2.0]"
);
over_elements!(
    LOG,
    "series_log",
    f64::ln,
    "The natural logarithms of a series.",
    "[1]",
    "[0.0]"
);
over_elements!(
    SIN,
    "series_sin",
    f64::sin,
    "The sines of a series.",
    "[0]",
    "[0.0]"
);
over_elements!(
    TAN,
    "series_tan",
    f64::tan,
    "The tangents of a series.",
    "[0]",
    "[0.0]"
);

pub(crate) static SIGN: ScalarFunction = function(
    &["series_sign(series: dynamic) -> dynamic"],
    "The signs of the elements: -1, 0 or 1.",
    ResultName::None,
    &[example(
        "print s = series_sign(dynamic([-2.5, 0, 7]))",
        "s:dynamic\n[-1,0,1]",
    )],
    |args| {
        apply(args, |x| {
            let x = x.real();
            Number::Long(i64::from(x > 0.0) - i64::from(x < 0.0))
        })
    },
);

fn apply(args: &KernelArgs<'_>, f: impl Fn(Number) -> Number) -> KernelResult {
    each(args, |row, encoder| {
        let results = series(row, 0)?.into_iter().map(|x| x.map(&f));
        write(results, encoder);
        Some(())
    })
}
