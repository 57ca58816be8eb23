//! `schema_merge`: what `getschema` says of several tables, as one schema.

use arrow::array::RecordBatch;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Call;

use super::args::Args;
use super::rewrite::rewrite;
use crate::context::BindContext;
use crate::error::BindResult;
use crate::relation::Relation;

/// One row for each name; equal names must have one type.
const MERGED: &str = "summarize ['$low'] = min(tolong(ColumnOrdinal)), ['$high'] = max(tolong(ColumnOrdinal)), \
    DataType = take_any(DataType), ['$type'] = min(ColumnType), ColumnType = max(ColumnType) by ColumnName";

/// A column at two places is out of order.
const ORDERED: &str = "extend ['$moved'] = ['$low'] != ['$high'] \
    | project ColumnName, ColumnOrdinal = iff(['$moved'], -1, ['$low']), \
    DataType = iff(['$moved'], 'ERROR(unknown CSL type:ERROR(columns are out of order))', DataType), \
    ColumnType = iff(['$moved'], 'ERROR(columns are out of order)', ColumnType)";

/// Places are numbered anew.
const RENUMBERED: &str = "sort by ['$high'] asc, ColumnName asc \
    | project ColumnName, ColumnOrdinal = row_number(0), DataType, ColumnType";

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
    let merged = rewrite(MERGED, input, binder, span)?;
    let (merged, rows) = binder.discover(merged, span)?;
    if rows.batches().iter().any(several_types) {
        return Err(binder.unsupported("merging columns of one name and several types", span));
    }
    let last = if keep_order { ORDERED } else { RENUMBERED };
    rewrite(last, merged, binder, span)
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
