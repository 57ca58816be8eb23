//! `bin_at`.

use hindsight_kql_types::ticks;

use super::bin::{floor_decimal, floor_long, floor_real};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "bin_at(value: long, bin_size: long, fixed_point: long) -> long",
        "bin_at(value: datetime, bin_size: number|time, fixed_point: datetime) -> datetime",
        "bin_at(value: timespan, bin_size: number|timespan, fixed_point: timespan) -> timespan",
        "bin_at(value: int|long|real, bin_size: int|long|real, fixed_point: int|long|real) -> real",
        "bin_at(value: number, bin_size: number, fixed_point: number) -> decimal",
    ],
    aliases: &[],
    summary: "The value rounded down to a bin boundary; one of the bins starts at the fixed point.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[
        example("print r = bin_at(6.5, 2.5, 7)", "r:real\n4.5"),
        example("print t = bin_at(1h, 1d, 12h)", "t:timespan\n-12:00:00"),
        example(
            "print t = bin_at(datetime(2020-05-06 07:00), 1d, datetime(2020-01-01 09:00))",
            "t:datetime\n2020-05-05T09:00:00Z",
        ),
    ],
    eval: Eval::Kernel(kernel),
};

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let kind = args.result_kind();
    if kind == ScalarType::Real {
        let (x, size, at) = (args.reals(0)?, args.reals(1)?, args.reals(2)?);
        return Ok(args.collect_reals(|row| {
            let at = at.get(row)?;
            Some(at + floor_real(x.get(row)? - at, size.get(row)?))
        }));
    }
    if kind == ScalarType::Decimal {
        let (x, size, at) = (args.decimals(0)?, args.decimals(1)?, args.decimals(2)?);
        return Ok(args.collect_decimals(|row| {
            let at = at.get(row)?;
            let from_point = x.get(row)?.checked_sub(at)?;
            floor_decimal(from_point, size.get(row)?)?.checked_add(at)
        }));
    }
    // The size of the bins of times is ticks, as `totimespan` converts it: a number loses its fraction.
    let (x, size, at) = (args.longs(0)?, args.longs(1)?, args.longs(2)?);
    Ok(args.collect_longs(|row| {
        let (x, size, at) = (x.get(row)?, size.get(row)?, at.get(row)?);
        if kind != ScalarType::Long && size <= 0 {
            return None;
        }
        let boundary = floor_long(x.wrapping_sub(at), size)?.wrapping_add(at);
        match kind {
            ScalarType::DateTime => ticks::in_range(boundary),
            _ => Some(boundary),
        }
    }))
}
