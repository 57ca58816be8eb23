//! `totimespan` (`docs/semantics.md §8.7`).

use hindsight_kql_types::{convert, decimal, timespan};

use super::source::{From, Source};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["totimespan(value: any) -> timespan"],
    "The value as a timespan: clock text, numbers with a unit, numbers as ticks.",
    ResultName::FirstArgument,
    &[
        example(
            "print t = totimespan('1.02:03:04.5')",
            "t:timespan\n1.02:03:04.5000000",
        ),
        example("print t = totimespan('90s')", "t:timespan\n00:01:30"),
        example("print t = totimespan('10')", "t:timespan\nnull"),
    ],
    |args| {
        let source = Source::open(args)?;
        Ok(args.collect_longs(|row| ticks(source.get(row)?)))
    },
)
.with_aliases(&["totime"]);

fn ticks(value: From<'_>) -> Option<i64> {
    match value {
        From::Bool(value) => Some(i64::from(value)),
        From::Long(value) => Some(value),
        From::Real(value) => convert::timespan_from_real(value),
        From::Decimal(value) => decimal::to_i64(value),
        From::Text(text) => timespan::parse(text),
        From::Dynamic(value) => value.to_timespan(),
    }
}
