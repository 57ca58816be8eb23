//! `toint` and `tolong` (`docs/semantics.md §8.1`).

use hindsight_kql_types::{convert, parse_int, parse_long};

use super::source::{From, Source};
use crate::functions::prelude::*;

pub(crate) static TOINT: ScalarFunction = function(
    &["toint(value: any) -> int"],
    "The value as a 32-bit integer: reals are truncated, longs wrap, text that is not an integer is null.",
    ResultName::FirstArgument,
    &[
        example("print n = toint('  -7 ')", "n:int\n-7"),
        example("print n = toint(2.9)", "n:int\n2"),
        example("print n = toint('5.7')", "n:int\nnull"),
    ],
    |args| {
        let source = Source::open(args)?;
        Ok(args.collect_ints(|row| int(source.get(row)?)))
    },
);

pub(crate) static TOLONG: ScalarFunction = function(
    &["tolong(value: any) -> long"],
    "The value as a 64-bit integer: reals are truncated, datetimes and timespans become ticks.",
    ResultName::FirstArgument,
    &[
        example("print n = tolong('0x1F')", "n:long\n31"),
        example("print n = tolong(2s)", "n:long\n20000000"),
    ],
    |args| {
        let source = Source::open(args)?;
        Ok(args.collect_longs(|row| long(source.get(row)?)))
    },
);

fn int(value: From<'_>) -> Option<i32> {
    match value {
        From::Bool(value) => Some(i32::from(value)),
        From::Long(value) => Some(convert::int_from_long(value)),
        From::Real(value) => convert::int_from_real(value),
        From::Decimal(value) => convert::int_from_decimal(value),
        From::Text(text) => parse_int(text),
        From::Dynamic(value) => value.to_int(),
    }
}

fn long(value: From<'_>) -> Option<i64> {
    match value {
        From::Bool(value) => Some(i64::from(value)),
        From::Long(value) => Some(value),
        From::Real(value) => convert::long_from_real(value),
        From::Decimal(value) => convert::long_from_decimal(value),
        From::Text(text) => parse_long(text),
        From::Dynamic(value) => value.to_long(),
    }
}
