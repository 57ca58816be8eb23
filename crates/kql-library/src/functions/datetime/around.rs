//! `around`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "around(value: long, center: long, delta: long) -> bool",
        "around(value: datetime, center: datetime, delta: timespan) -> bool",
        "around(value: timespan, center: timespan, delta: timespan) -> bool",
        "around(value: int|long|real, center: int|long|real, delta: int|long|real) -> bool",
        "around(value: number, center: number, delta: number) -> bool",
    ],
    aliases: &[],
    summary: "Whether a value lies within a distance of a center, both ends included.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print b = around(7, 5, 2)", "b:bool\ntrue"),
        example(
            "print b = around(decimal(0.3), 0.1, decimal(0.2))",
            "b:bool\ntrue",
        ),
        example(
            "print b = around(datetime(2020-05-02), datetime(2020-05-01), 1h)",
            "b:bool\nfalse",
        ),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let any = |kind| (0..args.len()).any(|index| args.kind(index) == kind);
    // Numbers of several types are promoted as arithmetic promotes them.
    if any(ScalarType::Decimal) {
        let (x, center, delta) = (args.decimals(0)?, args.decimals(1)?, args.decimals(2)?);
        return Ok(args.collect_bools(|row| {
            let (x, center, delta) = (x.get(row)?, center.get(row)?, delta.get(row)?);
            Some(x >= center.saturating_sub(delta) && x <= center.saturating_add(delta))
        }));
    }
    if any(ScalarType::Real) {
        let (x, center, delta) = (args.reals(0)?, args.reals(1)?, args.reals(2)?);
        return Ok(args.collect_bools(|row| {
            let (x, center, delta) = (x.get(row)?, center.get(row)?, delta.get(row)?);
            Some(x >= center - delta && x <= center + delta)
        }));
    }
    let (x, center, delta) = (args.longs(0)?, args.longs(1)?, args.longs(2)?);
    Ok(args.collect_bools(|row| {
        let (x, center, delta) = (x.get(row)?, center.get(row)?, delta.get(row)?);
        Some(x >= center.saturating_sub(delta) && x <= center.saturating_add(delta))
    }))
}
