//! Numbers (`docs/semantics.md §12`).

mod abs;
mod beta;
mod bits;
mod classify;
mod exponent;
mod gamma;
mod map;
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
