//! `tohex`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["tohex(value: integer, [minLength: long]) -> string"],
    "An integer in hexadecimal, in two's complement, padded with zeros to a length.",
    ResultName::FirstArgument,
    &[
        example("print s = tohex(-1)", "s:string\nffffffffffffffff"),
        example("print s = tohex(int(-1))", "s:string\nffffffff"),
        example("print s = tohex(255, 4)", "s:string\n00ff"),
    ],
    kernel,
);

/// The maximum padded length, more than any use needs. The length comes from the query text and must not exhaust memory.
const MAX_LENGTH: i64 = 1 << 20;

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let value = args.longs(0)?;
    let length = if args.len() > 1 {
        Some(args.longs(1)?)
    } else {
        None
    };
    let narrow = args.kind(0) == ScalarType::Int;
    Ok(args.collect_strings(|row| {
        let value = value.get(row)?;
        let width = match &length {
            Some(length) => length.get(row)?.clamp(0, MAX_LENGTH) as usize,
            None => 0,
        };
        let digits = if narrow {
            format!("{:x}", value as i32)
        } else {
            format!("{value:x}")
        };
        // `format!` supports widths up to 65,535.
        let zeros = "0".repeat(width.saturating_sub(digits.len()));
        Some(Cow::Owned(zeros + &digits))
    }))
}
