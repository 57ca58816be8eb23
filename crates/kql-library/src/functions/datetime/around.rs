//! `around`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "around(value: long, center: long, delta: long) -> bool",
        "around(value: datetime, center: datetime, delta: timespan) -> bool",
        "around(value: timespan, center: timespan, delta: timespan) -> bool",
        "around(value: real, center: real, delta: real) -> bool",
    ],
    aliases: &[],
    summary: "Whether a value lies within a distance of a center, both ends included.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[
        example("print b = around(7, 5, 2)", "b:bool\ntrue"),
        example(
            "print b = around(datetime(2020-05-02), datetime(2020-05-01), 1h)",
            "b:bool\nfalse",
        ),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    if args.kind(0) == ScalarType::Real {
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
