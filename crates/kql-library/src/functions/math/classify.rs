//! `isnan`, `isinf`, `isfinite`.

use crate::functions::prelude::*;

pub(crate) static ISNAN: ScalarFunction = function(
    &["isnan(number: int|long|real) -> bool"],
    "Whether a number is NaN.",
    ResultName::None,
    &[example("print b = isnan(0.0 / 0.0)", "b:bool\ntrue")],
    |args| test(args, f64::is_nan),
);

pub(crate) static ISINF: ScalarFunction = function(
    &["isinf(number: int|long|real) -> bool"],
    "Whether a number is infinite, with either sign.",
    ResultName::None,
    &[example("print b = isinf(1.0 / 0.0)", "b:bool\ntrue")],
    |args| test(args, f64::is_infinite),
);

pub(crate) static ISFINITE: ScalarFunction = function(
    &["isfinite(number: int|long|real) -> bool"],
    "Whether a number is neither NaN nor infinite.",
    ResultName::None,
    &[example("print b = isfinite(1.0 / 0.0)", "b:bool\nfalse")],
    |args| test(args, f64::is_finite),
);

fn test(args: &KernelArgs<'_>, f: impl Fn(f64) -> bool) -> KernelResult {
    let x = args.reals(0)?;
    Ok(args.collect_bools(|row| x.get(row).map(&f)))
}
