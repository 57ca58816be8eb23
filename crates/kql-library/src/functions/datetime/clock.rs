//! `now` and `ago`: the binder reads the clock once per query (`docs/semantics.md §10.1`).

use crate::functions::prelude::*;

pub(crate) static NOW: ScalarFunction = ScalarFunction {
    signatures: &["now([offset: timespan]) -> datetime"],
    aliases: &[],
    summary: "The start time of the query plus the offset.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example("print b = now(1h) - now() == 1h", "b:bool\ntrue")],
    eval: Eval::Binder,
};

pub(crate) static AGO: ScalarFunction = ScalarFunction {
    signatures: &["ago(timespan: timespan) -> datetime"],
    aliases: &[],
    summary: "The start time of the query minus the timespan.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print t = now() - ago(2d)",
        "t:timespan\n2.00:00:00",
    )],
    eval: Eval::Binder,
};
