//! Tests run a query and compare the answer in the form of [`crate::functions::Example`].

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{Field, Schema};
use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use hindsight_kql_types::{ScalarType, Value};

use crate::bind::value_from_scalar;
use crate::{BindOptions, Catalog, CatalogError, CatalogTable, TableScope};

/// Three requests: enough for filters, groups and joins.
pub(crate) struct TestCatalog;

impl Catalog for TestCatalog {
    fn table(&self, scope: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError> {
        match scope {
            TableScope::Request if name == "requests" => Ok(Some(requests())),
            TableScope::App(app) if app == "shop" && name == "requests" => Ok(Some(requests())),
            TableScope::Request => Ok(None),
            _ => Err(CatalogError::Scope("no such application".to_owned())),
        }
    }

    fn table_names(&self, _: &TableScope) -> Result<Vec<String>, CatalogError> {
        Ok(vec!["requests".to_owned()])
    }
}

fn requests() -> CatalogTable {
    let columns = vec![
        ("timestamp".to_owned(), ScalarType::DateTime),
        ("name".to_owned(), ScalarType::String),
        ("duration".to_owned(), ScalarType::Real),
        ("resultCode".to_owned(), ScalarType::String),
    ];
    let hour = hindsight_kql_types::ticks::TICKS_PER_HOUR;
    let start = hindsight_kql_types::ticks::UNIX_EPOCH_TICKS;
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![
            start,
            start + hour,
            start + 2 * hour,
        ])),
        Arc::new(StringViewArray::from(vec!["GET /", "POST /buy", "GET /"])),
        Arc::new(Float64Array::from(vec![Some(1.5), Some(20.0), None])),
        Arc::new(StringViewArray::from(vec!["200", "500", "200"])),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, kind)| Field::new(name, kind.arrow(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("the columns fit");
    let provider = MemTable::try_new(schema, vec![vec![batch]]).expect("the batch fits");
    CatalogTable {
        name: "requests".to_owned(),
        columns,
        provider: Arc::new(provider),
    }
}

/// The answer of a query: every result table, or the code and message of the error.
pub(crate) fn answer(query: &str) -> String {
    answer_with(query, &BindOptions::default())
}

/// The answer of a query under options.
pub(crate) fn answer_with(query: &str, options: &BindOptions) -> String {
    let parsed = hindsight_kql_syntax::parse(query);
    if let Some(error) = parsed.diagnostics.first() {
        return format!("error {error}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let context = crate::run::session_context();
    let bound = crate::run::bind_with_rows(&parsed.query, &TestCatalog, options.clone(), &context);
    let bound = match runtime.block_on(bound) {
        Ok(bound) => bound,
        Err(crate::run::BindError::Diagnostics(errors)) => {
            return errors
                .first()
                .map_or_else(String::new, |e| format!("error {e}"));
        }
        Err(error) => return format!("failure {error}"),
    };
    match runtime.block_on(crate::run::collect(bound, &context)) {
        Ok(tables) => tables.iter().map(print).collect::<Vec<_>>().join("\n---\n"),
        Err(error) => format!("failed {error}"),
    }
}

/// Fails unless the query's answer is `expected`; an expectation `error CODE` is compared by its code alone.
#[track_caller]
pub(crate) fn check(query: &str, expected: &str) {
    let answer = answer(query);
    let expected = expected.trim();
    let same = match expected.strip_prefix("error ") {
        Some(code) => answer.starts_with(&format!("error {code}")),
        None => answer.trim() == expected,
    };
    assert!(
        same,
        "\nquery:    {query}\nexpected: {expected}\nanswer:   {answer}"
    );
}

fn print(table: &crate::run::ResultTable) -> String {
    let header: Vec<String> = table
        .columns
        .iter()
        .map(|c| format!("{}:{}", c.name, c.kind))
        .collect();
    let mut lines = vec![header.join(", ")];
    for batch in &table.batches {
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = table
                .columns
                .iter()
                .enumerate()
                .map(|(i, column)| cell(batch.column(i), row, column.kind))
                .collect();
            lines.push(cells.join(" | "));
        }
    }
    lines.join("\n")
}

/// Null of any type is `null`; datetimes are as short as in results; everything else is its text.
fn cell(array: &ArrayRef, row: usize, kind: ScalarType) -> String {
    let value = ScalarValue::try_from_array(array, row)
        .ok()
        .and_then(|scalar| value_from_scalar(&scalar, kind));
    match value {
        None => "?".to_owned(),
        Some(Value::Null(_)) => "null".to_owned(),
        Some(Value::Bool(v)) => v.to_string(),
        Some(Value::DateTime(ticks)) => {
            let mut out = String::new();
            let _ = hindsight_kql_types::datetime::write_trimmed(ticks, &mut out);
            out
        }
        Some(value) => value.to_text(),
    }
}

/// The examples of everything in the library, and what is wrong with them.
fn failing_examples<'e>(
    all: impl Iterator<Item = (&'e str, &'e crate::functions::Example)>,
) -> Vec<String> {
    all.filter_map(|(name, example)| {
        let answer = answer(example.query);
        (answer.trim() != example.answer.trim()).then(|| {
            format!(
                "{name}: {}\n  expected: {}\n  answer:   {answer}",
                example.query, example.answer
            )
        })
    })
    .collect()
}

#[test]
fn the_functions_examples_hold() {
    let all = crate::functions::registry().all().iter();
    let failures =
        failing_examples(all.flat_map(|f| f.examples.iter().map(move |e| (f.name(), e))));
    assert!(
        failures.is_empty(),
        "{} examples fail\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn the_aggregates_examples_hold() {
    let all = crate::aggregates::all();
    let failures = failing_examples(all.flat_map(|f| {
        let name = f.signatures.first().copied().unwrap_or_default();
        f.examples.iter().map(move |e| (name, e))
    }));
    assert!(
        failures.is_empty(),
        "{} examples fail\n{}",
        failures.len(),
        failures.join("\n")
    );
}
