//! `todecimal` (`docs/semantics.md §8.3`).

use arrow::array::Decimal128Array;
use hindsight_kql_types::decimal;

use super::source::{From, Source};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["todecimal(value: any) -> decimal"],
    "The value as a decimal; text that is not a number is null.",
    ResultName::FirstArgument,
    &[example(
        "print d = todecimal('123.45')",
        "d:decimal\n123.45",
    )],
    |args| {
        let source = Source::open(args)?;
        let values: Decimal128Array = (0..args.rows())
            .map(|row| source.get(row).and_then(to_decimal))
            .collect();
        Ok(Arc::new(values.with_data_type(ScalarType::Decimal.arrow())))
    },
);

fn to_decimal(value: From<'_>) -> Option<i128> {
    match value {
        From::Bool(value) => Some(decimal::from_i64(i64::from(value))),
        From::Long(value) => Some(decimal::from_i64(value)),
        From::Real(value) => decimal::from_f64(value),
        From::Decimal(value) => Some(value),
        From::Text(text) => decimal::parse(text),
        From::Dynamic(value) => value.to_decimal(),
    }
}
