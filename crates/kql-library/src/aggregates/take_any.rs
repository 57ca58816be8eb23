//! `take_any` and `take_anyif`: an arbitrary row of the group (`docs/semantics.md §16.4`).

use datafusion::logical_expr::{Expr, lit, when};
use hindsight_kql_syntax::{Code, Diagnostic};

use super::arg_max::{PickedColumn, columns, picked};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::pick::Pick;

pub(crate) static LIST: &[&AggregateFunction] = &[&TAKE_ANY, &TAKE_ANYIF, &ANY, &ANYIF];

static TAKE_ANY: AggregateFunction = AggregateFunction {
    signatures: &["take_any(expr: any...) -> $1"],
    aliases: &[],
    summary: "The values of an arbitrary row of the group; a single expression is null only if it is null in every row.",
    result_name: AggregateName::Columns,
    star: true,
    examples: &[
        example(
            "datatable(n:long)[long(null), 7] | summarize take_any(n)",
            "n:long\n7",
        ),
        example(
            "datatable(k:long, s:string)[1, 'a'] | summarize take_any(*) by k",
            "k:long, s:string\n1 | a",
        ),
    ],
    bind: |call| bind(call, false, ""),
};

static TAKE_ANYIF: AggregateFunction = AggregateFunction {
    signatures: &["take_anyif(expr: any, predicate: bool) -> $1"],
    aliases: &[],
    summary: "A value of an arbitrary row where the predicate is true.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(n:long)[3, 7] | summarize take_anyif(n, n > 5)",
        "n:long\n7",
    )],
    bind: |call| bind(call, true, ""),
};

static ANY: AggregateFunction = AggregateFunction {
    signatures: &["any(expr: any...) -> $1"],
    aliases: &[],
    summary: "The legacy name of `take_any`; its columns are named `any_…`.",
    result_name: AggregateName::Columns,
    star: true,
    examples: &[example(
        "datatable(n:long)[7] | summarize any(n)",
        "any_n:long\n7",
    )],
    bind: |call| bind(call, false, "any_"),
};

static ANYIF: AggregateFunction = AggregateFunction {
    signatures: &["anyif(expr: any, predicate: bool) -> $1"],
    aliases: &[],
    summary: "The legacy name of `take_anyif`.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(n:long)[3, 7] | summarize anyif(n, n > 5)",
        "anyif_n:long\n7",
    )],
    bind: |call| bind(call, true, "anyif_"),
};

fn bind(
    call: &AggregateCall<'_>,
    conditional: bool,
    prefix: &str,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let mut columns = columns(call);
    let predicate = conditional.then(|| call.expr(1)).transpose()?;
    if conditional {
        columns.truncate(1);
    }
    for (index, column) in columns.iter_mut().enumerate() {
        column.name = Some(match &column.name {
            Some(name) => format!("{prefix}{name}"),
            None => format!("any_arg{index}"),
        });
    }
    let key = key(&columns, call)?;
    picked(Pick::First, Some(key), predicate, columns, call.span)
}

/// The sort key, null for rows with the lowest preference: a single expression prefers rows where it is not null.
fn key(columns: &[PickedColumn], call: &AggregateCall<'_>) -> Result<Expr, Diagnostic> {
    let is_preferred = match columns {
        [only] => only.expr.clone().is_not_null(),
        _ => lit(true),
    };
    when(is_preferred, lit(true))
        .end()
        .map_err(|error| Diagnostic::new(Code::Semantics, error.to_string(), call.span))
}
