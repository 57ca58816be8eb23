//! `bin` and its alias `floor`: values rounded down to a multiple of a size (`docs/semantics.md §10.2`).

use arrow::array::Int64Array;

use crate::functions::prelude::*;

/// The definition of `bin`.
pub static BIN: ScalarFunction = ScalarFunction {
    signatures: &[
        "bin(value: long, roundTo: long) -> long",
        "bin(value: bool, roundTo: long) -> long",
        "bin(value: datetime, roundTo: time) -> datetime",
        "bin(value: timespan, roundTo: timespan) -> timespan",
        "bin(value: bool|int|long|real, roundTo: int|long|real) -> real",
        "bin(value: number, roundTo: number) -> decimal",
    ],
    aliases: &["floor"],
    summary: "The value rounded down to a multiple of the bin size; datetime bins are counted from year one.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example("print n = bin(-7, 5)", "n:long\n-10"),
        example(
            "print t = bin(datetime(2020-05-06 07:08:09), 1h)",
            "t:datetime\n2020-05-06T07:00:00Z",
        ),
        // Seven days from year one, whose first day was a Monday.
        example(
            "print t = bin(datetime(2020-05-06), 7d)",
            "t:datetime\n2020-05-04T00:00:00Z",
        ),
        example("print b = isnull(bin(5, 0))", "b:bool\ntrue"),
        example("print r = floor(7.9, 0.5)", "r:real\n7.5"),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    match args.result_kind() {
        ScalarType::Real => {
            let (x, size) = (args.reals(0)?, args.reals(1)?);
            Ok(args.collect_reals(|row| Some(floor_real(x.get(row)?, size.get(row)?))))
        }
        ScalarType::DateTime | ScalarType::TimeSpan => time(args),
        ScalarType::Decimal => {
            let (x, size) = (args.decimals(0)?, args.decimals(1)?);
            Ok(args.collect_decimals(|row| floor_decimal(x.get(row)?, size.get(row)?)))
        }
        _ => {
            let (x, size) = (args.longs(0)?, args.longs(1)?);
            Ok(args.collect_longs(|row| floor_long(x.get(row)?, size.get(row)?)))
        }
    }
}

fn time(args: &KernelArgs<'_>) -> KernelResult {
    let (x, size) = (args.longs(0)?, args.longs(1)?);
    match size.get(0) {
        // Charts bin every row by the same size, so the division is replaced by a multiplication.
        Some(constant) if size.is_constant() && !x.is_constant() && constant > 0 => {
            Ok(Arc::new(floor_array(x.array(), constant)))
        }
        _ => Ok(args.collect_longs(|row| {
            let size = size.get(row).filter(|size| *size > 0)?;
            floor_long(x.get(row)?, size)
        })),
    }
}

/// Every value rounded down to a multiple of the positive `size`.
fn floor_array(values: &Int64Array, size: i64) -> Int64Array {
    let divisor = size.unsigned_abs();
    // Multiplication by the reciprocal yields the quotient or one less; the remainder decides.
    let reciprocal = u64::MAX / divisor;
    values.unary(|value| {
        if value < 0 {
            return value.wrapping_sub(value.rem_euclid(size));
        }
        let positive = value.unsigned_abs();
        let quotient = ((u128::from(positive) * u128::from(reciprocal)) >> 64) as u64;
        let low = quotient * divisor;
        let exact = if positive - low >= divisor {
            low + divisor
        } else {
            low
        };
        exact as i64
    })
}

/// `value` rounded towards minus infinity to a multiple of `size`. Near the ends of the range the result wraps exactly as in
/// the measured engine.
pub(super) fn floor_long(value: i64, size: i64) -> Option<i64> {
    if size == 0 {
        return None;
    }
    let shifted = match (value < 0, size < 0) {
        (true, false) => value.wrapping_sub(size).wrapping_add(1),
        (false, true) if value > 0 => value.wrapping_sub(size).wrapping_sub(1),
        _ => value,
    };
    Some(shifted.wrapping_div(size).wrapping_mul(size))
}

/// `value` rounded towards minus infinity to a multiple of `size`, both decimals; null for a size of zero.
pub(super) fn floor_decimal(value: i128, size: i128) -> Option<i128> {
    let rest = value.checked_rem_euclid(size)?;
    value.checked_sub(rest)
}

/// The double-precision formula without correction: `bin(0.3, 0.1)` is 0.2.
pub(super) fn floor_real(value: f64, size: f64) -> f64 {
    if size == 0.0 {
        return f64::NAN;
    }
    size * (value / size).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longs_round_down() {
        let check = |value: i64, size: i64, expected: Option<i64>| {
            assert_eq!(floor_long(value, size), expected, "{value} by {size}");
        };
        check(7, 5, Some(5));
        check(-7, 5, Some(-10));
        check(-10, 5, Some(-10));
        check(7, -5, Some(10));
        check(-7, -5, Some(-5));
        check(7, 0, None);
        check(i64::MIN + 2, 4, Some(i64::MAX - 3));
    }

    #[test]
    fn arrays_agree_with_single_values() {
        let sizes = [
            1,
            3,
            600_000_000,
            864_000_000_000,
            6_048_000_000_000,
            i64::MAX,
        ];
        let values = [
            0,
            1,
            2,
            599_999_999,
            600_000_000,
            637_134_336_000_000_000,
            3_155_378_975_999_999_999,
            i64::MAX,
            -1,
            -864_000_000_001,
        ];
        for size in sizes {
            let array = floor_array(&Int64Array::from(values.to_vec()), size);
            for (row, value) in values.into_iter().enumerate() {
                let expected = value.wrapping_sub(value.rem_euclid(size));
                assert_eq!(array.value(row), expected, "{value} by {size}");
            }
        }
    }

    #[test]
    fn reals_follow_the_formula() {
        assert_eq!(floor_real(0.3, 0.1), 0.2);
        assert_eq!(floor_real(f64::INFINITY, 1.0), f64::INFINITY);
        assert!(floor_real(1.0, f64::INFINITY).is_nan());
        assert!(floor_real(1.0, 0.0).is_nan());
    }
}
