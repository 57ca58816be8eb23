//! Functions that build arrays from scalars: `pack_array`, `range`, `repeat`.

use hindsight_kql_types::Encoder;

use crate::dynamic::arguments::pack_array;
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

/// The maximum number of elements of `range`; the rest is dropped silently (`docs/semantics.md §9.7`).
const MAX_ELEMENTS: i64 = 1_048_576;

pub(crate) static PACK_ARRAY: ScalarFunction = function(
    &["pack_array(value: any...) -> dynamic"],
    "An array of the arguments.",
    ResultName::None,
    &[example(
        "print a = pack_array(1, 'x', 1d, real(null))",
        "a:dynamic\n[1,\"x\",\"1.00:00:00\",null]",
    )],
    pack_array,
);

pub(crate) static RANGE: ScalarFunction = function(
    &[
        "range(start: long, stop: long, [step: long]) -> dynamic",
        "range(start: real, stop: real, [step: real]) -> dynamic",
        "range(start: datetime, stop: datetime, [step: timespan]) -> dynamic",
        "range(start: timespan, stop: timespan, [step: timespan]) -> dynamic",
    ],
    "An array of numbers or times from `start` to `stop`, both included; by default in steps of 1, or 1h for times.",
    ResultName::None,
    &[
        example("print a = range(1, 8, 3)", "a:dynamic\n[1,4,7]"),
        example(
            "print a = range(0s, 90m)",
            "a:dynamic\n[\"00:00:00\",\"01:00:00\"]",
        ),
    ],
    range,
);

pub(crate) static REPEAT: ScalarFunction = function(
    &["repeat(value: hashable, count: long) -> dynamic"],
    "An array that holds the value `count` times.",
    ResultName::Prefixed("repeat"),
    &[example(
        "print a = repeat('x', 3)",
        "a:dynamic\n[\"x\",\"x\",\"x\"]",
    )],
    |args| {
        let counts = args.longs(1)?;
        if (0..args.rows()).any(|row| counts.get(row).is_some_and(|n| n > MAX_ELEMENTS)) {
            return Err(KernelError::Failed(format!(
                "repeat(): an array has at most {MAX_ELEMENTS} elements"
            )));
        }
        each(args, |row, encoder| {
            let count = row.long(1)?;
            encoder.begin_array();
            for _ in 0..count {
                row.pack(0, encoder);
            }
            encoder.end();
            Some(())
        })
    },
);

fn range(args: &KernelArgs<'_>) -> KernelResult {
    let kind = args.kind(0);
    each(args, |row, encoder| match kind {
        ScalarType::Real => reals(row, encoder),
        _ => longs(row, kind, encoder),
    })
}

fn longs(row: Row<'_>, kind: ScalarType, encoder: &mut Encoder) -> Option<()> {
    const HOUR: i64 = 36_000_000_000;
    let (start, stop) = (row.long(0)?, row.long(1)?);
    let default = if kind.is_integer() { 1 } else { HOUR };
    let step = if row.len() > 2 { row.long(2)? } else { default };
    if step == 0 {
        return None;
    }
    encoder.begin_array();
    let mut next = Some(start);
    let mut count = 0;
    while let Some(value) = next
        && (if step > 0 {
            value <= stop
        } else {
            value >= stop
        })
        && count < MAX_ELEMENTS
    {
        match kind {
            ScalarType::DateTime => Value::DateTime(value).pack(encoder),
            ScalarType::TimeSpan => Value::TimeSpan(value).pack(encoder),
            _ => encoder.long(value),
        }
        next = value.checked_add(step);
        count += 1;
    }
    encoder.end();
    Some(())
}

fn reals(row: Row<'_>, encoder: &mut Encoder) -> Option<()> {
    let real = |index| match row.value(index)?.convert(ScalarType::Real) {
        Value::Real(number) if number.is_finite() => Some(number),
        _ => None,
    };
    let (start, stop) = (real(0)?, real(1)?);
    let step = if row.len() > 2 { real(2)? } else { 1.0 };
    if step == 0.0 {
        return None;
    }
    encoder.begin_array();
    let mut value = start;
    let mut count = 0;
    while (if step > 0.0 {
        value <= stop
    } else {
        value >= stop
    }) && count < MAX_ELEMENTS
    {
        encoder.real(value);
        value += step;
        count += 1;
    }
    encoder.end();
    Some(())
}
