//! Numbers (`semantics.md §12`).

mod abs;
mod beta;
mod bits;
mod classify;
mod exponent;
mod gamma;
mod rand;
mod round;
mod trigonometry;
mod welch_test;

use super::prelude::*;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &abs::DEF,
    &beta::CDF,
    &beta::INV,
    &beta::PDF,
    &bits::AND,
    &bits::OR,
    &bits::XOR,
    &bits::NOT,
    &bits::SHIFT_LEFT,
    &bits::SHIFT_RIGHT,
    &bits::COUNT_ONES,
    &classify::ISNAN,
    &classify::ISINF,
    &classify::ISFINITE,
    &exponent::SQRT,
    &exponent::EXP,
    &exponent::EXP2,
    &exponent::EXP10,
    &exponent::LOG,
    &exponent::LOG2,
    &exponent::LOG10,
    &exponent::POW,
    &gamma::GAMMA,
    &gamma::LOGGAMMA,
    &gamma::ERF,
    &gamma::ERFC,
    &rand::DEF,
    &round::CEILING,
    &round::ROUND,
    &round::SIGN,
    &trigonometry::SIN,
    &trigonometry::COS,
    &trigonometry::TAN,
    &trigonometry::COT,
    &trigonometry::ASIN,
    &trigonometry::ACOS,
    &trigonometry::ATAN,
    &trigonometry::ATAN2,
    &trigonometry::DEGREES,
    &trigonometry::RADIANS,
    &trigonometry::PI,
    &welch_test::DEF,
];

/// `f` of the first argument as a double; null stays null.
fn map(args: &KernelArgs<'_>, f: impl Fn(f64) -> f64) -> Answer {
    let x = args.reals(0)?;
    Ok(args.collect_reals(|row| x.get(row).map(&f)))
}

/// `f` of the first argument as a double, which has no result outside its domain.
fn map_partial(args: &KernelArgs<'_>, f: impl Fn(f64) -> Option<f64>) -> Answer {
    let x = args.reals(0)?;
    Ok(args.collect_reals(|row| x.get(row).and_then(&f)))
}

/// `f` of the first two arguments as doubles.
fn map2(args: &KernelArgs<'_>, f: impl Fn(f64, f64) -> f64) -> Answer {
    let (x, y) = (args.reals(0)?, args.reals(1)?);
    Ok(args.collect_reals(|row| Some(f(x.get(row)?, y.get(row)?))))
}
