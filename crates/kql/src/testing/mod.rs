//! Tests run a query and compare the answer in the form of [`crate::functions::Example`].

mod catalog;
mod conformance;
mod regressions;

use arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::{ScalarType, Value};

use crate::BindOptions;
use crate::Catalog;
use crate::run::{BindError, ResultTable, bind_with_rows, collect, session_context};
use crate::value::value_from_scalar;

pub(crate) use catalog::Requests as TestCatalog;

/// What became of a query.
enum Outcome {
    /// Its result tables.
    Tables(Vec<ResultTable>),
    /// The first reason for which the parser or the binder refused it.
    Refused(Diagnostic),
    /// How it failed when it ran.
    Failed(String),
}

fn run(query: &str, catalog: &dyn Catalog, options: BindOptions) -> Outcome {
    let parsed = hindsight_kql_syntax::parse(query);
    if let Some(error) = parsed.diagnostics.into_iter().next() {
        return Outcome::Refused(error);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let context = session_context();
    let bound = bind_with_rows(&parsed.query, catalog, options, &context);
    let bound = match runtime.block_on(bound) {
        Ok(bound) => bound,
        Err(BindError::Diagnostics(errors)) => {
            let first = errors.into_iter().next();
            return Outcome::Refused(first.expect("a refusal has a reason"));
        }
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    match runtime.block_on(collect(bound, &context)) {
        Ok(tables) => Outcome::Tables(tables),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// The answer of a query: every result table, or the code and message of the error.
pub(crate) fn answer(query: &str) -> String {
    answer_with(query, &BindOptions::default())
}

/// The answer of a query under options.
pub(crate) fn answer_with(query: &str, options: &BindOptions) -> String {
    match run(query, &TestCatalog, options.clone()) {
        Outcome::Tables(tables) => print_all(&tables, cell),
        Outcome::Refused(error) => format!("error {error}"),
        Outcome::Failed(error) => format!("failed {error}"),
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

/// How a cell is written.
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
