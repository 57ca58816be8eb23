//! Small tables of JSON values: results of management commands, and the tables that accompany a query's own.

use hindsight_kql_types::ScalarType;
use serde_json::{Value, json};

/// A table with its rows.
#[derive(Debug, Clone)]
pub(crate) struct SmallTable {
    columns: Vec<(&'static str, ScalarType)>,
    rows: Vec<Value>,
}

impl SmallTable {
    /// A table with these columns and no rows.
    pub(crate) fn new(columns: &[(&'static str, ScalarType)]) -> SmallTable {
        SmallTable {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// The table with this row, an array, added.
    pub(crate) fn with(mut self, row: Value) -> SmallTable {
        self.rows.push(row);
        self
    }

    /// The table with these rows, arrays, added.
    pub(crate) fn with_all(mut self, rows: impl IntoIterator<Item = Value>) -> SmallTable {
        self.rows.extend(rows);
        self
    }

    /// As a table of version 1.
    pub(super) fn v1(&self, index: usize) -> Value {
        let columns = self.columns.iter().map(|(name, kind)| {
            json!({ "ColumnName": name, "DataType": data_type(*kind), "ColumnType": kind.name() })
        });
        json!({
            "TableName": format!("Table_{index}"),
            "Columns": columns.collect::<Vec<_>>(),
            "Rows": self.rows,
        })
    }

    /// As a frame `DataTable` of version 2.
    pub(super) fn v2(&self, id: usize, kind: &str, name: &str) -> Value {
        let columns = self.columns.iter();
        let columns =
            columns.map(|(name, kind)| json!({ "ColumnName": name, "ColumnType": kind.name() }));
        json!({
            "FrameType": "DataTable",
            "TableId": id,
            "TableKind": kind,
            "TableName": name,
            "Columns": columns.collect::<Vec<_>>(),
            "Rows": self.rows,
        })
    }
}

/// The .NET type that version 1 names, without its namespace.
pub(super) fn data_type(kind: ScalarType) -> &'static str {
    kind.clr_name().rsplit('.').next().unwrap_or_default()
}
