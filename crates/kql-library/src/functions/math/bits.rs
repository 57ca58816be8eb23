//! `binary_*` and `bitset_count_ones`: bit operations on 64-bit integers.

use crate::functions::prelude::*;

macro_rules! two {
    ($name:literal, $b:literal) => {
        &[
            concat!(
                "binary_",
                $name,
                "(value: integer, ",
                $b,
                ": integer) -> long"
            ),
            concat!("binary_", $name, "(value: bool, ", $b, ": bool) -> long"),
        ]
    };
}

pub(crate) static AND: ScalarFunction = function(
    two!("and", "other"),
    "The bits set in both integers.",
    ResultName::FirstArgument,
    &[example("print n = binary_and(12, 10)", "n:long\n8")],
    |args| map2(args, |a, b| a & b),
);

pub(crate) static OR: ScalarFunction = function(
    two!("or", "other"),
    "The bits set in either integer.",
    ResultName::FirstArgument,
    &[example("print n = binary_or(12, 10)", "n:long\n14")],
    |args| map2(args, |a, b| a | b),
);

pub(crate) static XOR: ScalarFunction = function(
    two!("xor", "other"),
    "The bits set in exactly one of the integers.",
    ResultName::FirstArgument,
    &[example("print n = binary_xor(12, 10)", "n:long\n6")],
    |args| map2(args, |a, b| a ^ b),
);

pub(crate) static NOT: ScalarFunction = function(
    &[
        "binary_not(value: integer) -> long",
        "binary_not(value: bool) -> long",
    ],
    "The integer with every bit inverted.",
    ResultName::FirstArgument,
    &[example("print n = binary_not(5)", "n:long\n-6")],
    |args| map(args, |a| !a),
);

pub(crate) static SHIFT_LEFT: ScalarFunction = function(
    two!("shift_left", "shift"),
    "The bits shifted left; only the low six bits of the distance are used.",
    ResultName::FirstArgument,
    &[example("print n = binary_shift_left(3, 4)", "n:long\n48")],
    |args| map2(args, |a, n| a.wrapping_shl((n & 63) as u32)),
);

pub(crate) static SHIFT_RIGHT: ScalarFunction = function(
    two!("shift_right", "shift"),
    "The bits shifted right, preserving the sign; only the low six bits of the distance are used.",
    ResultName::FirstArgument,
    &[example("print n = binary_shift_right(48, 4)", "n:long\n3")],
    |args| map2(args, |a, n| a.wrapping_shr((n & 63) as u32)),
);

pub(crate) static COUNT_ONES: ScalarFunction = function(
    &["bitset_count_ones(value: integer) -> long"],
    "The number of set bits.",
    ResultName::FirstArgument,
    &[example("print n = bitset_count_ones(255)", "n:long\n8")],
    |args| map(args, |a| i64::from(a.count_ones())),
);

fn map(args: &KernelArgs<'_>, f: impl Fn(i64) -> i64) -> KernelResult {
    let x = args.longs(0)?;
    Ok(args.collect_longs(|row| x.get(row).map(&f)))
}

fn map2(args: &KernelArgs<'_>, f: impl Fn(i64, i64) -> i64) -> KernelResult {
    let (x, y) = (args.longs(0)?, args.longs(1)?);
    Ok(args.collect_longs(|row| Some(f(x.get(row)?, y.get(row)?))))
}
