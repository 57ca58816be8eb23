//! Batches on their way in: every batch in the store has exactly its table's columns, in order.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, StringViewArray, StringViewBuilder, new_null_array,
};
use arrow::datatypes::{DataType, Int64Type};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use hindsight_kql_types::ScalarType;
use uuid::Uuid;

use crate::error::{Result, StoreError};
use crate::schema::{Column, INGESTION_TIME, TIMESTAMP, Table};

/// Where a batch comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A caller, whose mistakes are refused.
    Request {
        /// When the store received it, in ticks.
        received: i64,
    },
    /// The log. Another version may have written it: columns that the table lacks are dropped.
    Log,
}

/// The batch as it is stored ([`Table::stored_schema`]): missing columns are added, and missing text is `""`. A request's rows have
/// the time at which it was received; the log's keep theirs.
///
/// # Errors
/// [`StoreError::BadBatch`] names a column of the wrong type and, in a request, a column that the table lacks or one with a text that
/// it does not list.
pub(crate) fn normalise(table: Table, batch: &RecordBatch, origin: Origin) -> Result<RecordBatch> {
    let is_request = origin != Origin::Log;
    let bad = |what: String| StoreError::BadBatch {
        table: table.name(),
        what,
    };
    if is_request
        && let Some(field) = batch
            .schema()
            .fields()
            .iter()
            .find(|field| table.column(field.name()).is_none())
    {
        return Err(bad(format!("there is no column '{}'", field.name())));
    }
    if batch
        .column_by_name(TIMESTAMP)
        .is_none_or(|times| times.null_count() > 0)
    {
        return Err(bad("an item has no timestamp".to_owned()));
    }
    let rows = batch.num_rows();
    let mut columns = Vec::with_capacity(table.columns().len() + 1);
    for column in table.columns() {
        columns.push(match batch.column_by_name(column.name) {
            Some(array) if *array.data_type() == column.scalar_type.arrow() => {
                if is_request && let Some(text) = unlisted_text(column, array) {
                    return Err(bad(format!(
                        "column '{}' cannot hold '{text}'",
                        column.name
                    )));
                }
                present(column, array)
            }
            Some(array) => {
                let (found, due) = (array.data_type(), column.scalar_type.arrow());
                return Err(bad(format!(
                    "column '{}' is {found}, not {due}",
                    column.name
                )));
            }
            None => absent(column, rows),
        });
    }
    columns.push(match origin {
        Origin::Request { received } => Arc::new(Int64Array::from_value(received, rows)),
        Origin::Log => ingestion_times(batch),
    });
    Ok(RecordBatch::try_new(table.stored_schema(), columns)?)
}

/// The times at which rows were received; null if an earlier version wrote them.
fn ingestion_times(batch: &RecordBatch) -> ArrayRef {
    let times = batch.column_by_name(INGESTION_TIME);
    match times.filter(|times| *times.data_type() == DataType::Int64) {
        Some(times) => times.clone(),
        None => new_null_array(&DataType::Int64, batch.num_rows()),
    }
}

/// A text of the array that its column does not list (see [`Column::texts`]).
fn unlisted_text<'a>(column: &Column, array: &'a ArrayRef) -> Option<&'a str> {
    let listed = column.texts?;
    let texts = array.as_string_view_opt()?;
    texts
        .iter()
        .flatten()
        .find(|text| !text.is_empty() && !listed.contains(text))
}

fn present(column: &Column, array: &ArrayRef) -> ArrayRef {
    if column.scalar_type == ScalarType::String && array.null_count() > 0 {
        let text: StringViewArray = array
            .as_string_view()
            .iter()
            .map(|text| Some(text.unwrap_or_default()))
            .collect();
        return Arc::new(text);
    }
    array.clone()
}

/// Text is never null in KQL (`docs/semantics.md §2`).
fn absent(column: &Column, rows: usize) -> ArrayRef {
    if column.scalar_type != ScalarType::String {
        return new_null_array(&column.scalar_type.arrow(), rows);
    }
    let mut text = StringViewBuilder::with_capacity(rows);
    for _ in 0..rows {
        text.append_value("");
    }
    Arc::new(text.finish())
}

/// Name and instrumentation key of the application in the first row of a batch; `None` where it does not say both.
pub(crate) fn application(batch: &RecordBatch) -> Option<(String, Uuid)> {
    let text = |name: &str| {
        let column = arrow::compute::cast(batch.column_by_name(name)?, &DataType::Utf8View).ok()?;
        let texts = column.as_string_view_opt()?;
        (!texts.is_empty() && texts.is_valid(0)).then(|| texts.value(0).to_owned())
    };
    let key = Uuid::parse_str(&text("iKey")?).ok()?;
    Some((text("appName")?, key)).filter(|(name, _)| !name.is_empty())
}

/// The smallest and largest timestamp of a batch; an empty range (`MAX`, `MIN`) if it has none.
pub(crate) fn time_range(batch: &RecordBatch) -> (i64, i64) {
    let Some(column) = batch
        .column_by_name(TIMESTAMP)
        .and_then(|column| column.as_primitive_opt::<Int64Type>())
    else {
        return (i64::MAX, i64::MIN);
    };
    (
        arrow::compute::min(column).unwrap_or(i64::MAX),
        arrow::compute::max(column).unwrap_or(i64::MIN),
    )
}

/// One batch of several, holding on to none of their memory.
pub(crate) fn concat<'a>(
    table: Table,
    batches: impl IntoIterator<Item = &'a RecordBatch>,
) -> Result<RecordBatch> {
    let joined = arrow::compute::concat_batches(&table.stored_schema(), batches)?;
    let columns = joined.columns().iter().map(compact).collect();
    Ok(RecordBatch::try_new(joined.schema(), columns)?)
}

/// The batch, holding on to none of the memory that it shares with others and does not use.
pub(crate) fn compacted(batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(compact).collect();
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        batch.schema(),
        columns,
        &rows,
    )?)
}

/// View arrays share their sources' buffers; a copy keeps only what is used.
fn compact(array: &ArrayRef) -> ArrayRef {
    if let Some(text) = array.as_string_view_opt() {
        Arc::new(text.gc())
    } else if let Some(bytes) = array.as_binary_view_opt() {
        Arc::new(bytes.gc())
    } else {
        array.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_from_the_log_keeps_its_time_of_ingestion_or_has_none() {
        let time: ArrayRef = Arc::new(Int64Array::from(vec![7, 8]));
        let old = RecordBatch::try_from_iter([(TIMESTAMP, time)]).expect("a batch");
        let received = |batch: &RecordBatch| {
            let column = batch.column_by_name(INGESTION_TIME).expect("it is stored");
            let times = column.as_primitive::<Int64Type>().iter();
            times.collect::<Vec<_>>()
        };
        let read = normalise(Table::Traces, &old, Origin::Log).expect("it is read");
        assert_eq!(received(&read), [None, None]);
        let origin = Origin::Request { received: 9 };
        let new = normalise(Table::Traces, &old, origin).expect("it is taken");
        let read = normalise(Table::Traces, &new, Origin::Log).expect("it is read");
        assert_eq!(received(&read), [Some(9), Some(9)]);
        assert_eq!(read.schema(), Table::Traces.stored_schema());
    }
}
