//! The tables that a case defines for its query.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_empty_array};
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use hindsight_kql_types::dynamic::Dynamic;
use hindsight_kql_types::{ScalarType, Value};

use crate::testing::catalog::Visits;
use crate::value::value_to_scalar;
use crate::{Catalog, CatalogError, CatalogTable, TableScope};

/// A table in the notation of the case files: the line `table name (column:type, …)` and a line for each row.
pub(super) struct OwnTable {
    name: String,
    columns: Vec<(String, ScalarType)>,
    rows: Vec<Vec<Value>>,
}

impl OwnTable {
    /// The text after the word `table` if the line declares a table. A query that calls `table('name')` is not a declaration.
    pub(super) fn declaration(line: &str) -> Option<&str> {
        let rest = line.strip_prefix("table ")?;
        rest.starts_with(|c: char| c.is_alphabetic() || c == '_')
            .then_some(rest)
    }

    /// Parses a declaration (`sales (day:datetime, n:long)`) and the lines of its rows.
    pub(super) fn parse<'a>(
        declaration: &str,
        rows: impl Iterator<Item = &'a str>,
    ) -> Result<OwnTable, String> {
        let form = "a table is declared as: table name (column:type, …)";
        let (name, columns) = declaration.split_once(" (").ok_or(form)?;
        let columns = columns.trim_end().strip_suffix(')').ok_or(form)?;
        let columns = columns
            .split(',')
            .map(|column| {
                let (name, kind) = column.split_once(':').ok_or(form)?;
                let kind = ScalarType::parse(kind.trim())
                    .ok_or_else(|| format!("{} is no type", kind.trim()))?;
                Ok((name.trim().to_owned(), kind))
            })
            .collect::<Result<Vec<_>, String>>()?;
        let rows = rows
            .map(|line| parse_row(line, &columns).map_err(|error| format!("{line}\n{error}")))
            .collect::<Result<Vec<_>, String>>()?;
        Ok(OwnTable {
            name: name.to_owned(),
            columns,
            rows,
        })
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its columns in order.
    pub(super) fn columns(&self) -> &[(String, ScalarType)] {
        &self.columns
    }

    /// The table as a provider: two partitions with half of the rows each.
    fn catalog_table(&self) -> CatalogTable {
        let fields: Vec<Field> = self
            .columns
            .iter()
            .map(|(name, kind)| Field::new(name, kind.arrow(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let (first, second) = self.rows.split_at(self.rows.len().div_ceil(2));
        let partitions = [first, second].map(|rows| vec![self.batch(rows, &schema)]);
        let provider = MemTable::try_new(schema, partitions.to_vec()).expect("the batches fit");
        CatalogTable {
            name: self.name.clone(),
            columns: self.columns.clone(),
            provider: Arc::new(provider),
        }
    }

    fn batch(&self, rows: &[Vec<Value>], schema: &SchemaRef) -> RecordBatch {
        let arrays = (0..self.columns.len()).map(|column| -> ArrayRef {
            if rows.is_empty() {
                return new_empty_array(schema.field(column).data_type());
            }
            let cells = rows.iter().map(|row| value_to_scalar(&row[column]));
            ScalarValue::iter_to_array(cells).expect("the cells have one type")
        });
        RecordBatch::try_new(Arc::clone(schema), arrays.collect()).expect("the columns fit")
    }
}

fn parse_row(line: &str, columns: &[(String, ScalarType)]) -> Result<Vec<Value>, String> {
    let cells = cells(line);
    if cells.len() != columns.len() {
        return Err(format!(
            "the row has {} cells and the table {} columns; an empty line ends a table",
            cells.len(),
            columns.len()
        ));
    }
    let cells = cells.iter().zip(columns);
    cells
        .map(|(cell, (_, kind))| parse_cell(cell, *kind))
        .collect()
}

/// The cells of a row. ` | ` separates them, except inside double quotes.
fn cells(line: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let quoted = quoted_end(rest).unwrap_or_default();
        match rest[quoted..].find(" | ") {
            Some(at) => {
                cells.push(rest[..quoted + at].trim());
                rest = &rest[quoted + at + " | ".len()..];
            }
            None => {
                cells.push(rest.trim());
                return cells;
            }
        }
    }
}

/// The position of the closing double quote of the text that `text` starts with.
fn quoted_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    let inner = text.strip_prefix('"')?;
    let close = inner.find(|c| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    })?;
    Some(close + 2)
}

/// Parses a cell by the rules of `conformance/README.md`.
fn parse_cell(cell: &str, kind: ScalarType) -> Result<Value, String> {
    let wrong = || format!("{cell} is no {kind}");
    match kind {
        ScalarType::String if cell.is_empty() => Err("the empty string is written \"\"".to_owned()),
        ScalarType::String if cell == "null" => Err("a string is never null".to_owned()),
        ScalarType::String if cell.starts_with('"') => serde_json::from_str(cell)
            .map(Value::String)
            .map_err(|_| wrong()),
        ScalarType::String => Ok(Value::String(cell.to_owned())),
        kind if cell == "null" => Ok(Value::null(kind)),
        ScalarType::Dynamic if Dynamic::from_json(cell).is_none() => Err(wrong()),
        kind => {
            let value = Value::String(cell.to_owned()).convert(kind);
            if value.is_null() {
                return Err(wrong());
            }
            Ok(value)
        }
    }
}

/// The tables of a case: its own and `visits`, which every application has.
pub(super) struct CaseTables<'a>(pub(super) &'a [OwnTable]);

impl Catalog for CaseTables<'_> {
    fn table(&self, scope: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError> {
        match self.0.iter().find(|own| own.name == name) {
            Some(own) => Ok(Some(own.catalog_table())),
            None => Visits.table(scope, name),
        }
    }

    fn table_names(&self, scope: &TableScope) -> Result<Vec<String>, CatalogError> {
        let mut names = Visits.table_names(scope)?;
        names.extend(self.0.iter().map(|own| own.name.clone()));
        Ok(names)
    }

    fn database_name(&self) -> String {
        Visits.database_name()
    }
}

#[test]
fn cells_are_values_of_their_columns() {
    let rows = [
        "2020-01-01 | \"a | \\\"b\" | null",
        "null | b c | {\"x\":1}",
    ];
    let table = OwnTable::parse("t (day:datetime, s:string, d:dynamic)", rows.into_iter());
    let table = table.expect("it is well formed");
    let texts: Vec<String> = table.rows.iter().flatten().map(Value::to_text).collect();
    let expected = [
        "2020-01-01T00:00:00.0000000Z",
        "a | \"b",
        "",
        "",
        "b c",
        "{\"x\":1}",
    ];
    assert_eq!(texts, expected);
    let provider = table.catalog_table().provider;
    let memory = (provider.as_ref() as &dyn std::any::Any).downcast_ref::<MemTable>();
    assert_eq!(memory.map(|m| m.batches.len()), Some(2));
}

#[test]
fn a_cell_that_is_no_value_of_its_column_is_refused() {
    for (columns, row) in [
        ("n:long", "x"),
        ("n:long", "1 | 2"),
        ("s:string", "null"),
        ("s:string", ""),
        ("d:dynamic", "{"),
        ("t:nothing", "1"),
    ] {
        let table = OwnTable::parse(&format!("t ({columns})"), [row].into_iter());
        assert!(table.is_err(), "{columns}: {row}");
    }
}
