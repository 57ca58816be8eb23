//! Runs the examples of the language's documentation, for `tests/documentation`.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Outcome, TestCatalog, cell, run};
use crate::BindOptions;
use crate::run::ResultTable;

/// Prints a line for each example: its last result table, or why there is none.
#[test]
#[ignore = "it prints for tests/documentation, and needs the examples: set HINDSIGHT_SHARED"]
fn the_answers_of_the_documentation_examples() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("HINDSIGHT_SHARED").map_or(beside, PathBuf::from);
    let path = shared.join("kql/documentation_examples.jsonl");
    let text = std::fs::read_to_string(path).expect("the examples are there");
    for line in text.lines() {
        let example: Value = serde_json::from_str(line).expect("it is JSON");
        let query = example["query"].as_str().expect("an example has a query");
        let mut answer = match run(query, &TestCatalog, BindOptions::default()) {
            Outcome::Tables(tables) => json!({ "table": tables.last().map(table) }),
            Outcome::Refused(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                json!({ "error": errors.join("\n") })
            }
            Outcome::Failed(error) => json!({ "error": error.to_string() }),
        };
        answer["id"] = example["id"].clone();
        writeln!(std::io::stdout(), "example {answer}").expect("it can be written");
    }
}

/// A table: its columns with their types, and the texts of its cells.
fn table(table: &ResultTable) -> Value {
    let columns: Vec<Value> = table
        .columns
        .iter()
        .map(|column| json!([column.name, column.kind.name()]))
        .collect();
    let rows = table.batches.iter().flat_map(|batch| {
        (0..batch.num_rows()).map(move |row| {
            let cells = batch.columns().iter().zip(&table.columns);
            cells
                .map(|(array, column)| cell(array, row, column.kind))
                .collect::<Vec<String>>()
        })
    });
    json!({ "columns": columns, "rows": rows.collect::<Vec<_>>() })
}
