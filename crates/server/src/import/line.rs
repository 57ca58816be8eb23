//! An item as a line of JSON: the columns of its table by name, with the texts of their values unchanged.

use std::collections::BTreeMap;

use hindsight_store::Table;
use serde_json::value::RawValue;

use crate::wire::json;

/// The properties of a JSON object, each with its text.
pub(crate) type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// The properties of an object's text; `None` if it is no object.
pub(super) fn fields(text: &RawValue) -> Option<Fields<'_>> {
    serde_json::from_str(text.get()).ok()
}

/// An item that is being written.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) table: Table,
    /// The values by column, as JSON.
    values: BTreeMap<&'static str, String>,
}

impl Line {
    /// An item without values.
    pub(crate) fn new(table: Table) -> Line {
        Line {
            table,
            values: BTreeMap::new(),
        }
    }

    /// Sets a column to the JSON of a value. A column that the table lacks is left out.
    pub(super) fn set(&mut self, column: &str, json: impl Into<String>) {
        if let Some(column) = self.table.column(column) {
            self.values.insert(column.name, json.into());
        }
    }

    /// Sets a column to a text; an empty one is left out.
    pub(super) fn set_text(&mut self, column: &str, text: &str) {
        if !text.is_empty() {
            let mut out = String::new();
            json::string(text, &mut out);
            self.set(column, out);
        }
    }

    /// Sets a column to a number.
    pub(super) fn set_real(&mut self, column: &str, value: Option<f64>) {
        if let Some(value) = value {
            let mut out = String::new();
            json::real(value, &mut out);
            self.set(column, out);
        }
    }

    /// The JSON of a column's value.
    pub(super) fn get(&self, column: &str) -> Option<&str> {
        self.values.get(column).map(String::as_str)
    }

    /// Whether the item has an identity.
    pub(super) fn has_identity(&self) -> bool {
        self.get("itemId")
            .is_some_and(|id| id != "\"\"" && id != "null")
    }

    /// Appends the line with its end. Columns come in the order of the table.
    pub(crate) fn write(&self, out: &mut String) {
        out.push_str("{\"itemType\":\"");
        out.push_str(self.table.item_type());
        out.push('"');
        for column in self.table.columns() {
            if column.name != "itemType"
                && let Some(value) = self.values.get(column.name)
            {
                out.push(',');
                json::key(column.name, out);
                out.push_str(value);
            }
        }
        out.push_str("}\n");
    }
}

/// The text of a value that should be a text; numbers and truths are taken as they are written. `None` for null, objects and arrays.
pub(super) fn text(value: &RawValue) -> Option<String> {
    let raw = value.get();
    match raw.as_bytes().first()? {
        b'"' => serde_json::from_str(raw).ok(),
        b'{' | b'[' | b'n' => None,
        _ => Some(raw.to_owned()),
    }
}
