//! From rows to Arrow: which field of [`Row`] fills which column, and the builders of one table's batch.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow::array::{
    ArrayRef, BinaryViewBuilder, Float64Builder, Int32Builder, Int64Builder, RecordBatch,
    StringViewBuilder,
};
use arrow::error::ArrowError;
use hindsight_kql_types::ScalarType;
use hindsight_store::Table;

use super::row::Row;

/// How a column is read from a row.
#[derive(Clone, Copy)]
enum Source {
    Text(for<'r> fn(&'r Row<'_>) -> &'r str),
    Integer(fn(&Row<'_>) -> Option<i64>),
    Real(fn(&Row<'_>) -> Option<f64>),
    Dynamic(for<'r> fn(&'r Row<'_>) -> Option<&'r [u8]>),
}

/// Every column's source, by the column's name; a name means the same in every table that has it, but for `type`
/// and `message`, which exceptions and others share through the same field.
const SOURCES: &[(&str, Source)] = &[
    ("timestamp", Source::Integer(|r| Some(r.timestamp))),
    ("itemId", Source::Text(|r| &r.item_id)),
    ("itemType", Source::Text(|r| r.item_type)),
    (
        "itemCount",
        Source::Integer(|r| Some(i64::from(r.item_count))),
    ),
    ("appId", Source::Text(|r| r.app.id)),
    ("appName", Source::Text(|r| r.app.name)),
    ("iKey", Source::Text(|r| r.app.ikey)),
    ("_ResourceId", Source::Text(|r| r.app.resource_id)),
    (
        "customDimensions",
        Source::Dynamic(|r| r.dimensions.as_deref()),
    ),
    (
        "customMeasurements",
        Source::Dynamic(|r| r.measurements.as_deref()),
    ),
    ("operation_Name", Source::Text(|r| &r.tags.operation_name)),
    ("operation_Id", Source::Text(|r| &r.tags.operation_id)),
    (
        "operation_ParentId",
        Source::Text(|r| &r.tags.operation_parent_id),
    ),
    (
        "operation_SyntheticSource",
        Source::Text(|r| &r.tags.synthetic_source),
    ),
    ("session_Id", Source::Text(|r| &r.tags.session_id)),
    ("user_Id", Source::Text(|r| &r.tags.user_id)),
    (
        "user_AuthenticatedId",
        Source::Text(|r| &r.tags.authenticated_id),
    ),
    ("user_AccountId", Source::Text(|r| &r.tags.account_id)),
    ("application_Version", Source::Text(|r| &r.tags.version)),
    ("client_Type", Source::Text(|r| &r.tags.client_type)),
    ("client_Model", Source::Text(|r| &r.tags.client_model)),
    ("client_OS", Source::Text(|r| &r.tags.client_os)),
    ("client_IP", Source::Text(|r| &r.tags.client_ip)),
    ("client_City", Source::Text(|r| &r.tags.city)),
    ("client_StateOrProvince", Source::Text(|r| &r.tags.state)),
    ("client_CountryOrRegion", Source::Text(|r| &r.tags.country)),
    ("client_Browser", Source::Text(|r| &r.tags.browser)),
    ("cloud_RoleName", Source::Text(|r| &r.tags.role_name)),
    (
        "cloud_RoleInstance",
        Source::Text(|r| &r.tags.role_instance),
    ),
    ("sdkVersion", Source::Text(|r| &r.tags.sdk_version)),
    ("id", Source::Text(|r| &r.id)),
    ("name", Source::Text(|r| &r.name)),
    ("message", Source::Text(|r| &r.message)),
    ("url", Source::Text(|r| &r.url)),
    ("source", Source::Text(|r| &r.source)),
    ("target", Source::Text(|r| &r.target)),
    ("type", Source::Text(|r| &r.kind)),
    ("data", Source::Text(|r| &r.data)),
    ("success", Source::Text(|r| r.success)),
    ("resultCode", Source::Text(|r| &r.result_code)),
    ("duration", Source::Real(|r| r.duration)),
    ("performanceBucket", Source::Text(|r| r.performance_bucket)),
    (
        "severityLevel",
        Source::Integer(|r| r.severity.map(i64::from)),
    ),
    ("location", Source::Text(|r| &r.location)),
    ("size", Source::Real(|r| r.size)),
    ("problemId", Source::Text(|r| &r.problem_id)),
    ("handledAt", Source::Text(|r| &r.handled_at)),
    ("assembly", Source::Text(|r| &r.outer.assembly)),
    ("method", Source::Text(|r| &r.outer.method)),
    ("outerType", Source::Text(|r| &r.outer.kind)),
    ("outerMessage", Source::Text(|r| &r.outer.message)),
    ("outerAssembly", Source::Text(|r| &r.outer.assembly)),
    ("outerMethod", Source::Text(|r| &r.outer.method)),
    ("innermostType", Source::Text(|r| &r.innermost.kind)),
    ("innermostMessage", Source::Text(|r| &r.innermost.message)),
    ("innermostAssembly", Source::Text(|r| &r.innermost.assembly)),
    ("innermostMethod", Source::Text(|r| &r.innermost.method)),
    ("details", Source::Dynamic(|r| r.details.as_deref())),
    ("value", Source::Real(|r| r.value)),
    ("valueCount", Source::Integer(|r| r.value_count)),
    ("valueSum", Source::Real(|r| r.value_sum)),
    ("valueMin", Source::Real(|r| r.value_min)),
    ("valueMax", Source::Real(|r| r.value_max)),
    ("valueStdDev", Source::Real(|r| r.value_std_dev)),
    ("category", Source::Text(|r| &r.category)),
    ("counter", Source::Text(|r| &r.counter)),
    ("instance", Source::Text(|r| &r.instance)),
    ("networkDuration", Source::Real(|r| r.network_duration)),
    ("sendDuration", Source::Real(|r| r.send_duration)),
    ("receiveDuration", Source::Real(|r| r.receive_duration)),
    (
        "processingDuration",
        Source::Real(|r| r.processing_duration),
    ),
    ("totalDuration", Source::Real(|r| r.total_duration)),
];

static BY_NAME: LazyLock<HashMap<&'static str, Source>> =
    LazyLock::new(|| SOURCES.iter().copied().collect());

/// A column being filled.
enum Column {
    Text(StringViewBuilder, for<'r> fn(&'r Row<'_>) -> &'r str),
    Int(Int32Builder, fn(&Row<'_>) -> Option<i64>),
    Long(Int64Builder, fn(&Row<'_>) -> Option<i64>),
    Real(Float64Builder, fn(&Row<'_>) -> Option<f64>),
    Dynamic(
        BinaryViewBuilder,
        for<'r> fn(&'r Row<'_>) -> Option<&'r [u8]>,
    ),
}

impl Column {
    fn new(name: &str, kind: ScalarType) -> Option<Column> {
        Some(match (*BY_NAME.get(name)?, kind) {
            (Source::Text(read), ScalarType::String) => {
                Column::Text(StringViewBuilder::new(), read)
            }
            (Source::Integer(read), ScalarType::Int) => Column::Int(Int32Builder::new(), read),
            (Source::Integer(read), ScalarType::Long | ScalarType::DateTime) => {
                Column::Long(Int64Builder::new(), read)
            }
            (Source::Real(read), ScalarType::Real) => Column::Real(Float64Builder::new(), read),
            (Source::Dynamic(read), ScalarType::Dynamic) => {
                Column::Dynamic(BinaryViewBuilder::new(), read)
            }
            _ => return None,
        })
    }

    /// Adds the row's value; returns the bytes of a text or dynamic value.
    fn push(&mut self, row: &Row<'_>) -> usize {
        match self {
            Column::Text(builder, read) => {
                let text = read(row);
                builder.append_value(text);
                return text.len();
            }
            Column::Int(builder, read) => {
                builder
                    .append_option(read(row).map(|value| i32::try_from(value).unwrap_or(i32::MAX)));
            }
            Column::Long(builder, read) => builder.append_option(read(row)),
            Column::Real(builder, read) => builder.append_option(read(row)),
            Column::Dynamic(builder, read) => {
                let value = read(row);
                builder.append_option(value);
                return value.map_or(0, <[u8]>::len);
            }
        }
        0
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Column::Text(builder, _) => Arc::new(builder.finish()),
            Column::Int(builder, _) => Arc::new(builder.finish()),
            Column::Long(builder, _) => Arc::new(builder.finish()),
            Column::Real(builder, _) => Arc::new(builder.finish()),
            Column::Dynamic(builder, _) => Arc::new(builder.finish()),
        }
    }
}

/// The rows of one table that one request brought.
pub(crate) struct TableRows {
    table: Table,
    columns: Vec<Column>,
}

impl TableRows {
    /// No rows yet.
    pub(crate) fn new(table: Table) -> TableRows {
        let columns = table
            .columns()
            .iter()
            // A column without a source cannot happen: a test looks at all of them.
            .filter_map(|column| Column::new(column.name, column.scalar_type))
            .collect();
        TableRows { table, columns }
    }

    /// Adds a row; returns the bytes of its texts and dynamic values.
    pub(crate) fn push(&mut self, row: &Row<'_>) -> usize {
        let columns = self.columns.iter_mut();
        columns.map(|column| column.push(row)).sum()
    }

    /// The batch in the table's schema.
    pub(crate) fn finish(mut self) -> Result<(Table, RecordBatch), ArrowError> {
        let arrays = self.columns.iter_mut().map(Column::finish).collect();
        Ok((
            self.table,
            RecordBatch::try_new(self.table.arrow_schema(), arrays)?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_every_table_has_a_source_of_its_type() {
        for table in Table::ALL {
            for column in table.columns() {
                assert!(
                    Column::new(column.name, column.scalar_type).is_some(),
                    "{table}.{}",
                    column.name
                );
            }
        }
    }

    #[test]
    fn every_source_fills_a_column() {
        for (name, _) in SOURCES {
            assert!(
                Table::ALL.iter().any(|table| table.column(name).is_some()),
                "{name}"
            );
        }
    }

    #[test]
    fn a_batch_has_its_tables_schema() {
        for table in Table::ALL {
            let mut rows = TableRows::new(table);
            rows.push(&Row::default());
            let (_, batch) = rows.finish().unwrap();
            assert_eq!(
                (batch.schema(), batch.num_rows()),
                (table.arrow_schema(), 1),
                "{table}"
            );
        }
    }
}
