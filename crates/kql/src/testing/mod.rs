//! Test helpers that run a query and compare the answer in the form of [`crate::definition::Example`].

mod cancellation;
mod catalog;
mod conformance;
mod documentation;
mod matrix;
mod regressions;

use std::sync::{Arc, LazyLock};

use arrow::array::ArrayRef;
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::execution::context::SessionContext;
use datafusion::execution::memory_pool::UnboundedMemoryPool;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::{ScalarType, Value};

pub(crate) use catalog::Requests as TestCatalog;

use crate::addresses::AddressDatabase;
use crate::run::{BindError, ResultTable, bind_with_rows, collect};
use crate::session;
use crate::value::value_from_scalar;
use crate::work::Work;
use crate::{BindOptions, BoundQuery, Catalog};

/// The addresses of `conformance/data`, in which the queries of tests look addresses up.
static ADDRESSES: LazyLock<Arc<AddressDatabase>> = LazyLock::new(|| {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../conformance/data/addresses.mmdb"
    );
    let content = std::fs::read(path).expect("the file is in the repository");
    Arc::new(AddressDatabase::from_bytes(content).expect("it is a database"))
});

/// The outcome of a query.
enum Outcome {
    /// Its result tables.
    Tables(Vec<ResultTable>),
    /// The diagnostics of the parser or the binder; at least one.
    Refused(Vec<Diagnostic>),
    /// The error of the execution.
    Failed(DataFusionError),
}

fn run(query: &str, catalog: &dyn Catalog, options: BindOptions) -> Outcome {
    let context = session::context().expect("DataFusion has the rules");
    run_in(query, catalog, options, &context)
}

fn run_in(
    query: &str,
    catalog: &dyn Catalog,
    options: BindOptions,
    context: &SessionContext,
) -> Outcome {
    let parsed = hindsight_kql_syntax::parse(query);
    if !parsed.diagnostics.is_empty() {
        return Outcome::Refused(parsed.diagnostics);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let pool = Arc::new(UnboundedMemoryPool::default());
    let work = Work::with_addresses(pool, Some(Arc::clone(&ADDRESSES)));
    let bound = bind_with_rows(&parsed.query, catalog, options, context);
    let bound = match runtime.block_on(work.clone().run(bound)) {
        Ok(bound) => bound,
        Err(BindError::Diagnostics(errors)) => {
            assert!(!errors.is_empty(), "a refusal has a reason");
            return Outcome::Refused(errors);
        }
        Err(BindError::Run(error)) => return Outcome::Failed(error),
    };
    match runtime.block_on(work.run(collect(bound, context))) {
        Ok(tables) => Outcome::Tables(tables),
        Err(error) => Outcome::Failed(error),
    }
}

/// The answer of a query: every result table, or the code and message of the error.
pub(crate) fn answer(query: &str) -> String {
    answer_with(query, &BindOptions::default())
}

/// The answer of a query with options.
pub(crate) fn answer_with(query: &str, options: &BindOptions) -> String {
    write(run(query, &TestCatalog, options.clone()))
}

/// Binds a query over the test tables.
pub(crate) fn bound(query: &str) -> BoundQuery {
    let parsed = hindsight_kql_syntax::parse(query);
    let bound = crate::bind(&parsed.query, &TestCatalog, &BindOptions::default());
    bound.expect("it binds")
}

/// The answer of a query in a session.
pub(crate) fn answer_in(query: &str, context: &SessionContext) -> String {
    let options = BindOptions::default();
    write(run_in(query, &TestCatalog, options, context))
}

fn write(outcome: Outcome) -> String {
    match outcome {
        Outcome::Tables(tables) => print_all(&tables, cell),
        Outcome::Refused(errors) => format!("error {}", errors[0]),
        Outcome::Failed(error) => format!("failed {error}"),
    }
}

/// Fails unless the answer of the query is `expected`; an expectation `error CODE` is compared only by code.
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

/// Formats a cell.
type WriteCell = fn(&ArrayRef, usize, ScalarType) -> String;

fn print_all(tables: &[ResultTable], cell: WriteCell) -> String {
    let texts: Vec<String> = tables.iter().map(|table| print(table, cell)).collect();
    texts.join("\n---\n")
}

fn print(table: &ResultTable, cell: WriteCell) -> String {
    let header: Vec<String> = table
        .columns
        .iter()
        .map(|c| format!("{}:{}", c.name, c.kind))
        .collect();
    let mut lines = vec![header.join(", ")];
    for batch in &table.batches {
        for row in 0..batch.num_rows() {
            let columns = batch.columns().iter().zip(&table.columns);
            let cells: Vec<String> = columns
                .map(|(array, column)| cell(array, row, column.kind))
                .collect();
            lines.push(cells.join(" | "));
        }
    }
    lines.join("\n")
}

/// Null of any type is `null`; datetimes are in the short form of results; every other value is its text.
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

/// Runs the examples of all functions in the library, and returns the failures.
fn failing_examples<'e>(
    all: impl Iterator<Item = (&'e str, &'e crate::definition::Example)>,
) -> Vec<String> {
    all.filter_map(|(name, example)| {
        let answer = answer(example.query);
        (answer != example.answer).then(|| {
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
