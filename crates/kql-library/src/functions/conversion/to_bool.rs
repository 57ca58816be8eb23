//! `tobool` (`docs/semantics.md §8.4`).

use hindsight_kql_types::{convert, parse_bool};

use super::source::{From, Source};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["tobool(value: any) -> bool"],
    "The value as a bool: nonzero numbers are true, the texts true and false are case-insensitive, other text is null.",
    ResultName::FirstArgument,
    &[
        example("print b = tobool('TRUE')", "b:bool\ntrue"),
        example("print b = tobool(0.5)", "b:bool\ntrue"),
        example("print b = tobool('yes')", "b:bool\nnull"),
    ],
    |args| {
        let source = Source::open(args)?;
        Ok(args.collect_bools(|row| truth(source.get(row)?)))
    },
)
.with_aliases(&["toboolean"]);

fn truth(value: From<'_>) -> Option<bool> {
    match value {
        From::Bool(value) => Some(value),
        From::Long(value) => Some(convert::bool_from_long(value)),
        From::Real(value) => Some(convert::bool_from_real(value)),
        From::Decimal(value) => Some(value != 0),
        From::Text(text) => parse_bool(text),
        From::Dynamic(value) => value.to_bool(),
    }
}
