//! `welch_test`.

use super::beta::regularized;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &[
        "welch_test(mean1: bool|number, variance1: bool|number, count1: bool|number, mean2: bool|number, variance2: bool|number, count2: bool|number) -> real",
    ],
    "The two-sided p-value of Welch's t-test for the means of two samples.",
    ResultName::None,
    &[example(
        "print r = round(welch_test(1.0, 2.0, 9, 1.0, 3.0, 9), 6)",
        "r:real\n1.0",
    )],
    kernel,
);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let columns = (0..6)
        .map(|i| args.reals(i))
        .collect::<Result<Vec<_>, _>>()?;
    let [m1, v1, n1, m2, v2, n2] = columns.as_slice() else {
        return Err(KernelError::Failed(
            "welch_test(): function expects 6 arguments".into(),
        ));
    };
    Ok(args.collect_reals(|row| {
        let (a, b) = (v1.get(row)? / n1.get(row)?, v2.get(row)? / n2.get(row)?);
        let t = (m1.get(row)? - m2.get(row)?) / (a + b).sqrt();
        let freedom =
            (a + b).powi(2) / (a * a / (n1.get(row)? - 1.0) + b * b / (n2.get(row)? - 1.0));
        Some(two_sided(t, freedom))
    }))
}

/// The probability that a t-distributed value is farther from zero than `t`.
fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    regularized(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

#[cfg(test)]
mod tests {
    use super::two_sided;

    #[test]
    fn agrees_with_the_t_distribution() {
        // With one degree of freedom the distribution is Cauchy's, whose tail has a closed form.
        assert!((two_sided(1.0, 1.0) - 0.5).abs() < 1e-13);
        assert!((two_sided(0.0, 5.0) - 1.0).abs() < 1e-13);
        assert!(two_sided(f64::NAN, 5.0).is_nan());
    }
}
