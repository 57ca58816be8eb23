//! `todatetime` (`docs/semantics.md §8.6`).

use hindsight_kql_types::{convert, datetime, decimal};

use super::source::{From, Source};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["todatetime(value: any) -> datetime"],
    "The value as a datetime: text in many forms, numbers as ticks since year one.",
    ResultName::FirstArgument,
    &[
        example(
            "print t = todatetime('2022-12-02T13:45:56+02:00')",
            "t:datetime\n2022-12-02T11:45:56Z",
        ),
        example("print t = todatetime('2020-02-30')", "t:datetime\nnull"),
    ],
    |args| {
        let source = Source::open(args)?;
        Ok(args.collect_longs(|row| ticks(source.get(row)?)))
    },
);

fn ticks(value: From<'_>) -> Option<i64> {
    match value {
        From::Bool(value) => Some(i64::from(value)),
        From::Long(value) => convert::datetime_from_long(value),
        From::Real(value) => convert::datetime_from_real(value),
        From::Decimal(value) => convert::datetime_from_long(decimal::to_i64(value)?),
        From::Text(text) => datetime::parse(text),
        From::Dynamic(value) => value.to_datetime(),
    }
}
