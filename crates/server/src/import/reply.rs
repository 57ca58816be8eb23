//! Replies of the query API: tables with columns and rows.

use hindsight_store::Table;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::diagnostic;
use super::line::{Fields, Line, text};
use super::value::{Ignored, json_value};

/// A reply of `/v1/apps/{id}/query`, or of a workspace's query.
#[derive(Debug, Deserialize)]
pub(crate) struct QueryReply {
    /// Results; the first is that of the query.
    pub(crate) tables: Vec<ReplyTable>,
    /// Why the result is not whole, if it is not.
    pub(crate) error: Option<Box<RawValue>>,
}

/// A table of a reply.
#[derive(Debug, Deserialize)]
pub(crate) struct ReplyTable {
    /// `PrimaryResult` for the result of the query.
    pub(crate) name: String,
    /// The columns.
    pub(crate) columns: Vec<ReplyColumn>,
    /// The rows, each value with its text.
    pub(crate) rows: Vec<Vec<Box<RawValue>>>,
}

/// A column of a reply.
#[derive(Debug, Deserialize)]
pub(crate) struct ReplyColumn {
    /// Its name.
    pub(crate) name: String,
}

impl ReplyTable {
    /// The place of a column.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

/// The items of a reply: one result for each row, or an error for all.
///
/// # Errors
/// If the reply is not whole, or if it has more than one result.
pub(crate) fn lines(
    reply: &QueryReply,
    ignored: &Ignored,
) -> Result<Vec<Result<Line, String>>, String> {
    if let Some(error) = &reply.error {
        let error: String = error.get().chars().take(300).collect();
        return Err(format!("the reply is not whole: {error}"));
    }
    let [table] = reply.tables.as_slice() else {
        let names: Vec<&str> = reply
            .tables
            .iter()
            .map(|table| table.name.as_str())
            .collect();
        return Err(format!(
            "the reply has {} results ({}) and one is expected",
            names.len(),
            names.join(", ")
        ));
    };
    Ok(table
        .rows
        .iter()
        .map(|row| line(table, row, ignored))
        .collect())
}

fn line(table: &ReplyTable, row: &[Box<RawValue>], ignored: &Ignored) -> Result<Line, String> {
    if row.len() != table.columns.len() {
        return Err("a row does not have a value for each column".to_owned());
    }
    let names = table.columns.iter().map(|column| column.name.clone());
    let fields: Fields<'_> = names.zip(row.iter().map(|value| &**value)).collect();
    if let Some(table) = diagnostic::table(&fields) {
        return diagnostic::line(table, &fields, ignored);
    }
    match item_table(&fields) {
        Some(table) => classic(table, &fields, ignored),
        None => {
            Err("a row without `itemType` or `Type` does not say which table it is of".to_owned())
        }
    }
}

/// The table of a row's `itemType`.
pub(super) fn item_table(fields: &Fields<'_>) -> Option<Table> {
    let kind = text(fields.get("itemType")?)?;
    Table::ALL
        .into_iter()
        .find(|table| table.item_type() == kind)
}

/// A row with the columns of a classic table: of a query, or a line of an export.
pub(super) fn classic(
    table: Table,
    fields: &Fields<'_>,
    ignored: &Ignored,
) -> Result<Line, String> {
    let mut line = Line::new(table);
    for (name, value) in fields {
        match table.column(name) {
            _ if value.get() == "null" => {}
            Some(column) => line.set(column.name, json_value(column, value)?),
            None if ignored.has(name) => {}
            None => return Err(ignored.unknown(&format!("the column '{name}' of {table}"))),
        }
    }
    Ok(line)
}
