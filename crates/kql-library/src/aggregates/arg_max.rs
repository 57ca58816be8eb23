//! `arg_max` and `arg_min`: values of the row where an expression is largest or smallest (`docs/semantics.md §16.4`).

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::functions::core::expr_fn::get_field;
use datafusion::logical_expr::{AggregateUDF, Expr};
use hindsight_kql_syntax::{Diagnostic, Span};
use hindsight_kql_types::ScalarType;

use super::build::{filtered, never_null_text};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::description::{Description, PickRow, PickedRow};
use crate::states::groups::{GroupsUdaf, name_of};
use crate::states::pick::{Pick, PickedRows};

pub(crate) static LIST: &[&AggregateFunction] = &[&ARG_MAX, &ARG_MIN];

static ARG_MAX: AggregateFunction = AggregateFunction {
    signatures: &["arg_max(maximized: orderable, [returned: any...]) -> $1"],
    aliases: &[],
    summary: "The values of the row with the maximum of the first expression; `*` stands for all other columns.",
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
    aliases: &[],
    summary: "The values of the row with the minimum of the first expression; `*` stands for all other columns.",
    result_name: AggregateName::Columns,
    star: true,
    examples: &[example(
        "datatable(ms:long, page:string)[5, 'home', 90, 'cart'] | summarize arg_min(ms, page)",
        "ms:long, page:string\n5 | home",
    )],
    bind: |call| bind(call, Pick::Smallest),
};

/// The name of the aggregate that picks the row with the largest key.
const ROW_OF_MAX: &str = "row_of_max";

/// Whether an aggregate picks the row with the largest value of its first argument, and so needs no row whose value is not above that of an earlier row
/// of its group.
pub fn picks_largest(function: &AggregateUDF) -> bool {
    name_of(function) == Some(ROW_OF_MAX)
}

/// A column of the picked row.
pub(crate) struct PickedColumn {
    /// Its expression over the input.
    pub(crate) expr: Expr,
    /// Its type.
    pub(crate) kind: ScalarType,
    /// Its name, if it has one.
    pub(crate) name: Option<String>,
}

/// The columns of the arguments; `*` is already expanded.
pub(crate) fn columns(call: &AggregateCall<'_>) -> Vec<PickedColumn> {
    let named = call
        .args
        .iter()
        .enumerate()
        .map(|(index, scalar)| PickedColumn {
            expr: scalar.expr.clone(),
            kind: scalar.kind,
            name: call.name(index).map(str::to_owned),
        });
    named.collect()
}

/// The result columns of the row picked by `key`, or by the first column if there is no `key`.
pub(crate) fn picked(
    pick: Pick,
    key: Option<Expr>,
    predicate: Option<Expr>,
    columns: Vec<PickedColumn>,
    span: Span,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let offset = usize::from(key.is_some());
    let key_kind = key.is_some().then_some(ScalarType::Bool);
    let kinds: Vec<ScalarType> = key_kind
        .into_iter()
        .chain(columns.iter().map(|column| column.kind))
        .collect();
    let args: Vec<Expr> = key
        .into_iter()
        .chain(columns.iter().map(|column| column.expr.clone()))
        .collect();
    let row = filtered(pick_row(pick, &kinds, args), predicate, span)?;
    Ok(columns
        .into_iter()
        .enumerate()
        .map(|(index, column)| AggregateColumn {
            name: column.name,
            expr: never_null_text(
                get_field(row.clone(), PickedRows::field_name(index + offset)),
                column.kind,
            ),
            kind: column.kind,
        })
        .collect())
}

/// The aggregate call that picks one row of a group: the row with the largest, the smallest or the first non-null value of
/// the first argument. Its result is a struct of that row's arguments ([`PickedRows::field_name`]), whose types are `kinds`.
pub fn pick_row(pick: Pick, kinds: &[ScalarType], args: Vec<Expr>) -> Expr {
    picked_row(pick, kinds).call(args)
}

/// The aggregate of [`pick_row`].
pub(super) fn picked_row(pick: Pick, kinds: &[ScalarType]) -> GroupsUdaf {
    let rule = match pick {
        Pick::Largest => PickedRow::Largest,
        Pick::Smallest => PickedRow::Smallest,
        Pick::First => PickedRow::First,
    };
    let description = Description::PickRow(PickRow {
        pick: rule.into(),
        kinds: kinds.iter().map(ScalarType::to_string).collect(),
    });
    let kinds: Vec<DataType> = kinds.iter().map(|kind| kind.arrow()).collect();
    GroupsUdaf {
        name: match pick {
            Pick::Largest => ROW_OF_MAX,
            Pick::Smallest => "row_of_min",
            Pick::First => "first_row",
        },
        parameters: String::new(),
        arguments: kinds.len(),
        result: PickedRows::result(&kinds),
        states: kinds.iter().cloned().chain([DataType::Boolean]).collect(),
        description,
        make: Arc::new(move || Box::new(PickedRows::new(pick, kinds.clone()))),
    }
}

fn bind(call: &AggregateCall<'_>, pick: Pick) -> Result<Vec<AggregateColumn>, Diagnostic> {
    call.arg(0)?;
    let prefix = match pick {
        Pick::Smallest => "min",
        _ => "max",
    };
    let key = call.name(0).unwrap_or_default();
    let mut columns = columns(call);
    for (index, column) in columns.iter_mut().enumerate() {
        // The default names of the columns are those of the language's tables.
        column.name.get_or_insert_with(|| match index {
            0 => format!("{prefix}_"),
            _ => format!("{prefix}_{key}_arg{index}"),
        });
    }
    picked(pick, None, None, columns, call.span)
}
