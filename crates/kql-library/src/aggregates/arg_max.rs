//! `arg_max` and `arg_min`: values of the row where an expression is largest or smallest (`semantics.md §16.4`).

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::functions::core::expr_fn::get_field;
use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::{Diagnostic, Span};
use hindsight_kql_types::ScalarType;

use super::build::{filtered, never_null_text};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::groups::GroupsUdaf;
use crate::states::pick::{Pick, PickedRows};

pub(crate) static LIST: &[&AggregateFunction] = &[&ARG_MAX, &ARG_MIN];

static ARG_MAX: AggregateFunction = AggregateFunction {
    signatures: &["arg_max(maximized: orderable, [returned: any...]) -> $1"],
    aliases: &["argmax"],
    summary: "The values of the row where the first expression is largest; `*` stands for all other columns.",
    result_name: AggregateName::Columns,
    star: true,
    examples: &[
        example(
            "datatable(ms:long, page:string)[5, 'home', 90, 'cart'] | summarize arg_max(ms, page)",
            "ms:long, page:string\n90 | cart",
        ),
        example(
            "datatable(ms:long, page:string)[5, 'home', 90, 'cart', 7, 'home'] | summarize arg_max(ms, *) by page | sort by page asc",
            "page:string, ms:long\ncart | 90\nhome | 7",
        ),
    ],
    bind: |call| bind(call, Pick::Largest),
};

static ARG_MIN: AggregateFunction = AggregateFunction {
    signatures: &["arg_min(minimized: orderable, [returned: any...]) -> $1"],
    aliases: &["argmin"],
    summary: "The values of the row where the first expression is smallest; `*` stands for all other columns.",
    result_name: AggregateName::Columns,
    star: true,
    examples: &[example(
        "datatable(ms:long, page:string)[5, 'home', 90, 'cart'] | summarize arg_min(ms, page)",
        "ms:long, page:string\n5 | home",
    )],
    bind: |call| bind(call, Pick::Smallest),
};

/// A column that a picked row is asked for.
pub(crate) struct Wanted {
    /// Its expression over the input.
    pub(crate) expr: Expr,
    /// Its type.
    pub(crate) kind: ScalarType,
    /// Its name, where it has one.
    pub(crate) name: Option<String>,
}

/// The columns of the arguments, among which `*` already stands for its columns.
pub(crate) fn wanted(call: &AggregateCall<'_>) -> Vec<Wanted> {
    let named = call.args.iter().enumerate().map(|(index, scalar)| Wanted {
        expr: scalar.expr.clone(),
        kind: scalar.kind,
        name: call.name(index).map(str::to_owned),
    });
    named.collect()
}

/// The columns of the row that is picked by `key`, or by the first wanted column.
pub(crate) fn picked(
    pick: Pick,
    key: Option<Expr>,
    predicate: Option<Expr>,
    wanted: Vec<Wanted>,
    span: Span,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let offset = usize::from(key.is_some());
    let key_kind = key.is_some().then_some(DataType::Boolean);
    let kinds: Vec<DataType> = key_kind
        .into_iter()
        .chain(wanted.iter().map(|w| w.kind.arrow()))
        .collect();
    let args: Vec<Expr> = key
        .into_iter()
        .chain(wanted.iter().map(|w| w.expr.clone()))
        .collect();
    let row = filtered(pick_row(pick, kinds, args), predicate, span)?;
    Ok(wanted
        .into_iter()
        .enumerate()
        .map(|(index, wanted)| AggregateColumn {
            name: wanted.name,
            expr: never_null_text(
                get_field(row.clone(), PickedRows::field_name(index + offset)),
                wanted.kind,
            ),
            kind: wanted.kind,
        })
        .collect())
}

/// The aggregate call that picks a row of a group: of its first argument the largest, the smallest or the first that is not
/// null. Its result is a struct of the arguments in that row ([`PickedRows::field_name`]).
pub fn pick_row(pick: Pick, kinds: Vec<DataType>, args: Vec<Expr>) -> Expr {
    let states = kinds.iter().cloned().chain([DataType::Boolean]).collect();
    GroupsUdaf {
        name: match pick {
            Pick::Largest => "row_of_max",
            Pick::Smallest => "row_of_min",
            Pick::First => "first_row",
        },
        parameters: String::new(),
        arguments: args.len(),
        result: PickedRows::result(&kinds),
        states,
        make: Arc::new(move || Box::new(PickedRows::new(pick, kinds.clone()))),
    }
    .call(args)
}

fn bind(call: &AggregateCall<'_>, pick: Pick) -> Result<Vec<AggregateColumn>, Diagnostic> {
    call.arg(0)?;
    let prefix = match pick {
        Pick::Smallest => "min",
        _ => "max",
    };
    let key = call.name(0).unwrap_or_default();
    let mut wanted = wanted(call);
    for (index, column) in wanted.iter_mut().enumerate() {
        // Names of computed columns are by the language's tables.
        column.name.get_or_insert_with(|| match index {
            0 => format!("{prefix}_"),
            _ => format!("{prefix}_{key}_arg{index}"),
        });
    }
    picked(pick, None, None, wanted, call.span)
}
