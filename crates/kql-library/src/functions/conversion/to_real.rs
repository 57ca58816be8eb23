//! `todouble` and `toreal` (`docs/semantics.md §8.2`).

use hindsight_kql_types::{convert, decimal, parse_real};

use super::source::{From, Source};
use crate::functions::prelude::*;

/// `todouble`
pub static DEF: ScalarFunction = function(
    &["todouble(value: any) -> real"],
    "The value as a 64-bit real; text that is not a number is null.",
    ResultName::FirstArgument,
    &[
        example("print r = todouble(' 1e3 ')", "r:real\n1000.0"),
        example("print r = todouble('12%')", "r:real\nnull"),
    ],
    |args| {
        let source = Source::open(args)?;
        Ok(args.collect_reals(|row| real(source.get(row)?)))
    },
)
.with_aliases(&["toreal"]);

fn real(value: From<'_>) -> Option<f64> {
    match value {
        From::Bool(value) => Some(f64::from(u8::from(value))),
        From::Long(value) => Some(convert::real_from_long(value)),
        From::Real(value) => Some(value),
        From::Decimal(value) => Some(decimal::to_f64(value)),
        From::Text(text) => parse_real(text),
        From::Dynamic(value) => value.to_real(),
    }
}
