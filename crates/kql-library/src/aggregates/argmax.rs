//! `argmax` and `argmin`: the legacy spellings of `arg_max` and `arg_min`, whose columns are named `max_x` and `max_x_y`
//! (`docs/semantics.md §13.3`).

use hindsight_kql_syntax::Diagnostic;

use super::arg_max::{columns, picked};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::pick::Pick;

pub(crate) static LIST: &[&AggregateFunction] = &[&ARGMAX, &ARGMIN];

static ARGMAX: AggregateFunction = AggregateFunction {
    signatures: &["argmax(maximized: orderable, [returned: any...]) -> $1"],
    aliases: &[],
    summary: "The legacy spelling of `arg_max`; its columns are named `max_x`, `max_x_y`, ….",
    result_name: AggregateName::Columns,
    star: true,
    examples: &[example(
        "datatable(ms:long, page:string)[5, 'home', 90, 'cart'] | summarize argmax(ms, page)",
        "max_ms:long, max_ms_page:string\n90 | cart",
    )],
    bind: |call| bind(call, Pick::Largest, "max"),
};

static ARGMIN: AggregateFunction = AggregateFunction {
    signatures: &["argmin(minimized: orderable, [returned: any...]) -> $1"],
    aliases: &[],
    summary: "The legacy spelling of `arg_min`; its columns are named `min_x`, `min_x_y`, ….",
    result_name: AggregateName::Columns,
    star: true,
    examples: &[example(
        "datatable(ms:long, page:string)[5, 'home', 90, 'cart'] | summarize argmin(ms, page)",
        "min_ms:long, min_ms_page:string\n5 | home",
    )],
    bind: |call| bind(call, Pick::Smallest, "min"),
};

fn bind(
    call: &AggregateCall<'_>,
    pick: Pick,
    prefix: &str,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    call.arg(0)?;
    let first = format!("{prefix}_{}", call.name(0).unwrap_or_default());
    let mut columns = columns(call);
    for (index, column) in columns.iter_mut().enumerate() {
        let name = match (index, &column.name) {
            (0, _) => first.clone(),
            (_, Some(name)) => format!("{first}_{name}"),
            (_, None) => format!("{first}_arg{index}"),
        };
        column.name = Some(name);
    }
    picked(pick, None, None, columns, call.span)
}
