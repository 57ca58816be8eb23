//! `ingestion_time`: the binder reads a field that tables do not show (`docs/semantics.md §10.1`).

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["ingestion_time() -> datetime"],
    aliases: &[],
    summary: "The time at which the row was received, of a row that comes straight from a table; null for other rows.",
    result_name: ResultName::Fixed("$IngestionTime"),
    volatile: false,
    examples: &[example("print t = ingestion_time()", "t:datetime\nnull")],
    eval: Eval::Binder,
};
