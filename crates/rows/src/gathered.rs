//! The rows of a request by application and table.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use hindsight_store::{AppId, Table};

use super::columns::TableRows;
use super::row::Row;

/// The rows of one application that a request brought.
pub struct AppBatches {
    /// Whose they are.
    pub app: AppId,
    /// The places of its items in the request.
    pub items: Vec<usize>,
    /// A batch for each table.
    pub batches: Vec<(Table, RecordBatch)>,
}

/// Rows by application and table.
#[derive(Default)]
pub struct Gathered {
    apps: HashMap<AppId, AppRows>,
    bytes: usize,
}

#[derive(Default)]
struct AppRows {
    items: Vec<usize>,
    tables: HashMap<Table, TableRows>,
}

impl Gathered {
    /// Adds the row of the item at `index`. An item may have several rows, which are added one after the other.
    pub fn push(&mut self, index: usize, app: AppId, table: Table, row: &Row<'_>) {
        let rows = self.apps.entry(app).or_default();
        if rows.items.last() != Some(&index) {
            rows.items.push(index);
        }
        self.bytes += rows
            .tables
            .entry(table)
            .or_insert_with(|| TableRows::new(table))
            .push(row);
    }

    /// Bytes of the texts and dynamic values of all rows.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The batches, by application.
    ///
    /// # Errors
    /// [`ArrowError`] if rows do not fit the schema of their table, which is a bug.
    pub fn finish(self) -> Result<Vec<AppBatches>, ArrowError> {
        let mut apps: Vec<AppBatches> = Vec::with_capacity(self.apps.len());
        for (app, rows) in self.apps {
            let batches = rows
                .tables
                .into_values()
                .map(TableRows::finish)
                .collect::<Result<_, _>>()?;
            apps.push(AppBatches {
                app,
                items: rows.items,
                batches,
            });
        }
        apps.sort_by_key(|app| app.app);
        Ok(apps)
    }
}
