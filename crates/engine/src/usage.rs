//! The table `Usage`: how much each table of an application received, by hour of ingestion.
//!
//! Its columns are those of the workspace table `Usage`, and the exact counts beside them.

use std::sync::{Arc, LazyLock};

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringViewArray,
};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use datafusion::catalog::MemTable;
use hindsight_kql::CatalogTable;
use hindsight_kql_types::ScalarType;
use hindsight_store::{AppId, TICKS_PER_HOUR, UsageRecord};

/// The name of the table.
pub(crate) const USAGE: &str = "Usage";
/// Bytes of the unit of `Quantity`.
const MBYTE: f64 = 1_000_000.0;

/// The columns of the table.
const COLUMNS: [(&str, ScalarType); 11] = [
    ("TimeGenerated", ScalarType::DateTime),
    ("StartTime", ScalarType::DateTime),
    ("EndTime", ScalarType::DateTime),
    ("DataType", ScalarType::String),
    ("Quantity", ScalarType::Real),
    ("QuantityUnit", ScalarType::String),
    ("Items", ScalarType::Long),
    ("Bytes", ScalarType::Long),
    ("IsBillable", ScalarType::Bool),
    ("ResourceUri", ScalarType::String),
    ("Type", ScalarType::String),
];

/// The table of these records; `name` names an application.
///
/// # Errors
/// The rows do not fit the columns, which is a bug.
pub(crate) fn table(
    records: &[UsageRecord],
    name: impl Fn(&AppId) -> String,
) -> datafusion::error::Result<CatalogTable> {
    let batch = batch(records, name)?;
    let provider = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
    Ok(CatalogTable {
        name: USAGE.to_owned(),
        columns: COLUMNS.map(|(name, kind)| (name.to_owned(), kind)).to_vec(),
        provider: Arc::new(provider),
    })
}

fn batch(
    records: &[UsageRecord],
    name: impl Fn(&AppId) -> String,
) -> Result<RecordBatch, ArrowError> {
    let times = |time: fn(&UsageRecord) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(records.iter().map(time)))
    };
    let count = |count: fn(&UsageRecord) -> u64| -> ArrayRef {
        let counts = records.iter().map(count);
        Arc::new(Int64Array::from_iter_values(
            counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
        ))
    };
    let texts = |text: &dyn Fn(&UsageRecord) -> String| -> ArrayRef {
        Arc::new(StringViewArray::from_iter_values(records.iter().map(text)))
    };
    let quantity = records.iter().map(|record| record.bytes as f64 / MBYTE);
    let columns = vec![
        times(|record| record.last),
        times(|record| record.start),
        times(|record| record.start + TICKS_PER_HOUR),
        texts(&|record| record.table.workspace_table().to_owned()),
        Arc::new(Float64Array::from_iter_values(quantity)),
        texts(&|_| "MBytes".to_owned()),
        count(|record| record.items),
        count(|record| record.bytes),
        Arc::new(BooleanArray::from(vec![true; records.len()])),
        texts(&|record| name(&record.app)),
        texts(&|_| USAGE.to_owned()),
    ];
    RecordBatch::try_new(SCHEMA.clone(), columns)
}

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let fields = COLUMNS.map(|(name, kind)| Field::new(name, kind.arrow(), true));
    Arc::new(Schema::new(fields.to_vec()))
});
