//! The reply to a query as the command line reads it, and its forms.

mod formats;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

pub(super) use formats::{Limits, csv, grouped, markdown, ndjson, table};

/// A reply with status 200.
#[derive(Debug, Deserialize)]
pub(super) struct Answer<'a> {
    /// The results.
    #[serde(borrow)]
    pub(super) tables: Vec<AnswerTable<'a>>,
    /// The visualization, if it was asked for (`include-render`).
    pub(super) render: Option<Value>,
    /// What the query has read, if it was asked for (`include-statistics`).
    pub(super) statistics: Option<Value>,
    /// Why the result is not whole, if it is not.
    pub(super) error: Option<Value>,
}

/// A result.
#[derive(Debug, Deserialize)]
pub(super) struct AnswerTable<'a> {
    /// Its columns.
    pub(super) columns: Vec<AnswerColumn>,
    /// Its rows. Numbers stay as the reply has them.
    #[serde(borrow)]
    pub(super) rows: Vec<Vec<&'a RawValue>>,
}

/// A column of a result.
#[derive(Debug, Deserialize)]
pub(super) struct AnswerColumn {
    /// Its name.
    pub(super) name: String,
    /// The name of its KQL type.
    #[serde(rename = "type")]
    pub(super) kind: String,
}

impl Answer<'_> {
    /// The rows of all results.
    pub(super) fn rows(&self) -> usize {
        self.tables.iter().map(|table| table.rows.len()).sum()
    }
}

impl AnswerColumn {
    /// Whether its values are numbers.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.kind.as_str(), "int" | "long" | "real" | "decimal")
    }
}

/// The text of a cell; nothing for null.
pub(super) fn text(cell: &RawValue) -> String {
    match cell.get() {
        "null" => String::new(),
        quoted if quoted.starts_with('"') => serde_json::from_str(quoted).unwrap_or_default(),
        other => other.to_owned(),
    }
}
