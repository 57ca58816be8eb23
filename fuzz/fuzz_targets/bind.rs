//! Arbitrary text binds to a plan or to diagnostics over the ten tables, without a panic.

#![no_main]

use std::sync::Arc;

use datafusion::datasource::empty::EmptyTable;
use hindsight_kql::{BindOptions, Catalog, CatalogError, CatalogTable, TableScope, bind_or_ask};
use hindsight_kql_syntax::parse;
use hindsight_store::Table;
use libfuzzer_sys::fuzz_target;

/// The ten tables, without rows.
struct Empty;

impl Catalog for Empty {
    fn table(&self, _: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError> {
        Ok(Table::from_name(name).map(|table| CatalogTable {
            name: name.to_owned(),
            columns: table
                .columns()
                .iter()
                .map(|column| (column.name.to_owned(), column.scalar_type))
                .collect(),
            provider: Arc::new(EmptyTable::new(table.arrow_schema())),
        }))
    }

    fn table_names(&self, _: &TableScope) -> Result<Vec<String>, CatalogError> {
        Ok(Table::ALL.map(|table| table.name().to_owned()).to_vec())
    }

    fn database_name(&self) -> String {
        "empty".to_owned()
    }
}

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    if parsed.diagnostics.is_empty() {
        // Either answer is right; what counts is that there is one.
        let _ = bind_or_ask(&parsed.query, &Empty, &BindOptions::default());
    }
});
