//! Functions on series: dynamic arrays of numbers (`docs/semantics.md §26`).

mod arithmetic;
mod compare;
pub(crate) mod decompose;
pub(crate) mod decompose_anomalies;
pub(crate) mod decompose_forecast;
mod decomposition;
pub(crate) mod fft;
mod fill;
mod filter;
pub(crate) mod fit;
pub(crate) mod fit_2lines;
pub(crate) mod fit_poly;
mod fourier;
mod least_squares;
mod math;
mod numbers;
mod outliers;
mod periods;
pub(crate) mod periods_detect;
pub(crate) mod periods_validate;
mod reduce;
mod seasonal;
pub(crate) mod stats;

use crate::call::InnerKernel;
use crate::definition::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &arithmetic::ADD,
    &arithmetic::SUBTRACT,
    &arithmetic::MULTIPLY,
    &arithmetic::DIVIDE,
    &arithmetic::POW,
    &compare::EQUALS,
    &compare::NOT_EQUALS,
    &compare::LESS,
    &compare::LESS_EQUALS,
    &compare::GREATER,
    &compare::GREATER_EQUALS,
    &math::ABS,
    &math::ACOS,
    &math::ASIN,
    &math::ATAN,
    &math::CEILING,
    &math::COS,
    &math::EXP,
    &math::FLOOR,
    &math::LOG,
    &math::SIGN,
    &math::SIN,
    &math::TAN,
    &fill::CONST,
    &fill::FORWARD,
    &fill::BACKWARD,
    &fill::LINEAR,
    &filter::FIR,
    &filter::IIR,
    &reduce::SUM,
    &reduce::PRODUCT,
    &reduce::MAGNITUDE,
    &reduce::DOT_PRODUCT,
    &reduce::PEARSON,
    &reduce::COSINE,
    &stats::STATS,
    &stats::STATS_DYNAMIC,
    &fit::LINE,
    &fit::LINE_DYNAMIC,
    &fit_2lines::LINES,
    &fit_2lines::LINES_DYNAMIC,
    &fit_poly::DEF,
    &fft::FFT,
    &fft::IFFT,
    &periods_detect::DEF,
    &periods_validate::DEF,
    &seasonal::DEF,
    &decompose::DEF,
    &decompose_anomalies::DEF,
    &decompose_forecast::DEF,
    &outliers::DEF,
];

/// The inner kernels of these functions.
pub(super) static KERNELS: &[&InnerKernel] = &[
    &decompose::KERNEL,
    &decompose_anomalies::KERNEL,
    &decompose_forecast::KERNEL,
    &outliers::KERNEL,
    &periods_validate::KERNEL,
];
