//! The beta distribution.

use crate::functions::prelude::*;

pub(crate) static CDF: ScalarFunction = function(
    &["beta_cdf(x: bool|number, alpha: bool|number, beta: bool|number) -> real"],
    "The probability that a beta-distributed value is at most `x`.",
    ResultName::None,
    &[example(
        "print r = round(beta_cdf(0.5, 2, 2), 6)",
        "r:real\n0.5",
    )],
    |args| map3(args, |x, a, b| Some(cdf(x, a, b))),
);

pub(crate) static PDF: ScalarFunction = function(
    &["beta_pdf(x: bool|number, alpha: bool|number, beta: bool|number) -> real"],
    "The density of the beta distribution at `x`.",
    ResultName::None,
    &[example(
        "print r = round(beta_pdf(0.5, 2, 2), 6)",
        "r:real\n1.5",
    )],
    |args| map3(args, |x, a, b| Some(pdf(x, a, b))),
);

pub(crate) static INV: ScalarFunction = function(
    &["beta_inv(probability: bool|number, alpha: bool|number, beta: bool|number) -> real"],
    "The inverse of the cumulative beta distribution at this probability.",
    ResultName::None,
    &[example(
        "print r = round(beta_inv(0.5, 3, 3), 6)",
        "r:real\n0.5",
    )],
    |args| map3(args, inverse),
);

fn map3(args: &KernelArgs<'_>, f: impl Fn(f64, f64, f64) -> Option<f64>) -> KernelResult {
    let (x, a, b) = (args.reals(0)?, args.reals(1)?, args.reals(2)?);
    Ok(args.collect_reals(|row| f(x.get(row)?, a.get(row)?, b.get(row)?)))
}

/// NaN if `x` is outside 0 to 1; a negative alpha was measured to return one.
fn cdf(x: f64, alpha: f64, beta: f64) -> f64 {
    if !(0.0..=1.0).contains(&x) || alpha.is_nan() || not_positive(beta) {
        f64::NAN
    } else if alpha <= 0.0 {
        1.0
    } else {
        regularized(x, alpha, beta)
    }
}

fn pdf(x: f64, alpha: f64, beta: f64) -> f64 {
    if !(0.0..=1.0).contains(&x) || not_positive(alpha) || not_positive(beta) {
        return f64::NAN;
    }
    // At an end of the range, 0 to the power of 0 is 1 and adds nothing.
    let power = |base: f64, exponent: f64| {
        if exponent == 0.0 {
            0.0
        } else {
            exponent * base.ln()
        }
    };
    let log = power(x, alpha - 1.0) + power(1.0 - x, beta - 1.0) - log_beta(alpha, beta);
    log.exp()
}

/// Null for a probability outside 0 to 1; NaN for invalid parameters.
fn inverse(p: f64, alpha: f64, beta: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    if not_positive(alpha) || not_positive(beta) {
        return Some(f64::NAN);
    }
    let (mut low, mut high) = (0.0f64, 1.0f64);
    // Bisection until adjacent doubles: the function is monotone, so the result is as exact as the function's own rounding.
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break Some(middle);
        }
        if regularized(middle, alpha, beta) < p {
            low = middle
        } else {
            high = middle
        }
    }
}

/// Whether `x` is zero, negative or NaN.
fn not_positive(x: f64) -> bool {
    x.is_nan() || x <= 0.0
}

fn log_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}

/// The regularized incomplete beta function, for positive `a` and `b` and `x` from 0 to 1.
pub(super) fn regularized(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (a * x.ln() + b * (1.0 - x).ln() - log_beta(a, b)).exp();
    // The continued fraction converges fast only below the mean; above it, use the symmetry relation.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for step in 1..=10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h
}

#[cfg(test)]
mod tests {
    use super::{cdf, inverse, pdf};

    fn check(got: f64, expected: f64) {
        assert!(
            (got - expected).abs() <= expected.abs() * 1e-12 || (got.is_nan() && expected.is_nan()),
            "{got} is not {expected}"
        );
    }

    #[test]
    fn follows_the_distribution() {
        check(cdf(0.25, 1.0, 1.0), 0.25);
        check(cdf(0.3, 2.0, 3.0), 0.3483);
        check(cdf(0.1, -1.0, 20.0), 1.0);
        check(cdf(1.5, 10.0, 20.0), f64::NAN);
        check(pdf(0.3, 2.0, 3.0), 1.764);
        check(pdf(0.1, -1.0, 20.0), f64::NAN);
    }

    #[test]
    fn inverse_inverts_the_distribution() {
        let p = 0.37;
        check(
            inverse(p, 2.5, 4.0).map_or(f64::NAN, |x| cdf(x, 2.5, 4.0)),
            p,
        );
        assert_eq!(inverse(1.5, 2.0, 3.0), None);
        check(inverse(0.5, -1.0, 3.0).unwrap_or(0.0), f64::NAN);
    }
}
