//! `schema_merge`: merges the results of `getschema` of several tables.

use arrow::array::RecordBatch;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{
    BinaryOp, Call, Direction, Expr, NamedExpr, Operator, OrderedExpr,
};

use super::args::Args;
use super::tree::{name, named, op, run};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let keep_order = match args.option("PreserveOrder") {
        Some(expr) => binder.constant_bool(expr)?,
        None => true,
    };
    args.end(binder, span)?;
    let merged = run(merged(), input, binder, span)?;
    let (merged, rows) = binder.discover(merged, span)?;
    if rows.batches().iter().any(several_types) {
        return Err(binder.unsupported("merging columns of one name and several types", span));
    }
    let last = if keep_order { ordered() } else { renumbered() };
    run(last, merged, binder, span)
}

/// One row for each name; columns of one name must have the same type.
fn merged() -> Vec<Operator> {
    let of = |function: &str, column: &str| Expr::call(function, [name(column)]);
    let ordinal = || of("tolong", "ColumnOrdinal");
    let aggregates = vec![
        named("$low", Expr::call("min", [ordinal()])),
        named("$high", Expr::call("max", [ordinal()])),
        named("DataType", of("take_any", "DataType")),
        named("$type", of("min", "ColumnType")),
        named("ColumnType", of("max", "ColumnType")),
    ];
    let by = vec![NamedExpr::bare(name("ColumnName"))];
    vec![Operator::summarize(aggregates, by)]
}

/// A column at two different ordinals is an error.
fn ordered() -> Vec<Operator> {
    let moved = op(BinaryOp::NotEqual, name("$low"), name("$high"));
    let unless_moved =
        |moved: Expr, column: &str| Expr::call("iff", [name("$moved"), moved, name(column)]);
    let unknown = "ERROR(unknown CSL type:ERROR(columns are out of order))";
    let error = "ERROR(columns are out of order)";
    vec![
        Operator::extend(vec![named("$moved", moved)]),
        Operator::project(vec![
            NamedExpr::bare(name("ColumnName")),
            named("ColumnOrdinal", unless_moved(Expr::long(-1), "$low")),
            named("DataType", unless_moved(Expr::string(unknown), "DataType")),
            named(
                "ColumnType",
                unless_moved(Expr::string(error), "ColumnType"),
            ),
        ]),
    ]
}

/// Assigns new ordinals.
fn renumbered() -> Vec<Operator> {
    vec![
        Operator::sort(vec![
            OrderedExpr::new(name("$high"), Direction::Asc),
            OrderedExpr::new(name("ColumnName"), Direction::Asc),
        ]),
        Operator::project(vec![
            NamedExpr::bare(name("ColumnName")),
            named("ColumnOrdinal", Expr::call("row_number", [Expr::long(0)])),
            NamedExpr::bare(name("DataType")),
            NamedExpr::bare(name("ColumnType")),
        ]),
    ]
}

fn several_types(batch: &RecordBatch) -> bool {
    match (
        batch.column_by_name("$type"),
        batch.column_by_name("ColumnType"),
    ) {
        (Some(low), Some(high)) => low != high,
        _ => true,
    }
}
