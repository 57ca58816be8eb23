//! `round`, `ceiling`, `sign`.

use super::map::map;
use crate::functions::prelude::*;

pub(crate) static CEILING: ScalarFunction = function(
    &[
        "ceiling(number: number) -> real",
        "ceiling(number: bool) -> real",
    ],
    "The smallest integer that is not less than the number, as a real.",
    ResultName::FirstArgument,
    &[example("print r = ceiling(-1.5)", "r:real\n-1.0")],
    |args| map(args, f64::ceil),
);

pub(crate) static SIGN: ScalarFunction = ScalarFunction {
    signatures: &["sign(number: number) -> real", "sign(number: bool) -> real"],
    aliases: &[],
    summary: "The sign of the number: -1, 0 or 1; null and NaN return 0.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example("print r = sign(-42)", "r:real\n-1.0")],
    eval: Eval::Kernel(sign),
};

fn sign(args: &KernelArgs<'_>) -> KernelResult {
    let x = args.reals(0)?;
    Ok(args.collect_reals(|row| {
        Some(match x.get(row) {
            Some(x) if x > 0.0 => 1.0,
            Some(x) if x < 0.0 => -1.0,
            _ => 0.0,
        })
    }))
}

// Decimals are not supported: neither the result type nor the rounding is known (`docs/semantics.md §31`).
pub(crate) static ROUND: ScalarFunction = function(
    &[
        "round(number: integer, [precision: long]) -> real",
        "round(number: real, [precision: long]) -> real",
        "round(number: bool, [precision: long]) -> real",
    ],
    "The number rounded to a number of decimals, half away from zero; a negative precision rounds to tens, hundreds, ….",
    ResultName::FirstArgument,
    &[
        example("print r = round(2.5)", "r:real\n3.0"),
        example("print r = round(-1234.5678, 2)", "r:real\n-1234.57"),
        example("print r = round(1251.0, -2)", "r:real\n1300.0"),
    ],
    round,
);

fn round(args: &KernelArgs<'_>) -> KernelResult {
    if args.len() < 2 {
        return map(args, f64::round);
    }
    let (x, digits) = (args.reals(0)?, args.longs(1)?);
    Ok(args.collect_reals(|row| Some(round_to(x.get(row)?, digits.get(row)?))))
}

/// Rounds `x` to `digits` decimals by scaling, as the measured engine does: `1.005` to two digits is `1.0`, because the
/// double is slightly less.
fn round_to(x: f64, digits: i64) -> f64 {
    let scale = 10f64.powi(digits.unsigned_abs().min(308) as i32);
    if digits < 0 {
        return (x / scale).round() * scale;
    }
    // A double has no digits left to round beyond its precision, and the scaling would overflow.
    let rounded = (x * scale).round() / scale;
    if rounded.is_finite() { rounded } else { x }
}

#[cfg(test)]
mod tests {
    use super::round_to;

    #[test]
    fn rounds_halves_away_from_zero() {
        let check = |x: f64, digits: i64, expected: f64| {
            assert_eq!(round_to(x, digits), expected, "{x} to {digits}")
        };
        check(3.25, 1, 3.3);
        check(-5.5, 1, -5.5);
        check(1.005, 2, 1.0);
        check(150.0, -2, 200.0);
        check(1.5, 400, 1.5);
        check(1.5, -400, 0.0);
    }
}
