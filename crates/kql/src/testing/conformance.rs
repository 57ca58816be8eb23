//! The cases of `conformance/kql`: queries with the answers that the language's rules give (see its README).

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow::array::ArrayRef;
use hindsight_kql_syntax::ast::{BinaryOp, ListOp};
use hindsight_kql_syntax::reference::{JOIN_KINDS, OPERATORS, STATEMENTS};
use hindsight_kql_types::ScalarType;

use super::catalog::Visits;
use super::{Outcome, cell, print_all, run};
use crate::BindOptions;

struct Case {
    file: String,
    query: String,
    expected: String,
}

/// Every folder whose cases hold.
const FOLDERS: [&str; 5] = [
    "aggregates",
    "joins",
    "operators",
    "scalar_operators",
    "statements",
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../conformance/kql")
        .join(name)
}

/// The cases of every file in a folder.
fn cases(name: &str) -> Vec<Case> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder(name))
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "kqlt"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| cases_of(file)).collect()
}

fn cases_of(file: &Path) -> Vec<Case> {
    let text = fs::read_to_string(file).expect("it can be read");
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let case = |part: &str| {
        let lines: Vec<&str> = part.lines().filter(|l| !l.starts_with('#')).collect();
        let text = lines.join("\n");
        let (query, expected) = text
            .split_once("\n----\n")
            .unwrap_or_else(|| panic!("{name}: a case has no line ----\n{part}"));
        Case {
            file: name.to_string(),
            query: query.trim().to_owned(),
            expected: expected.trim_end().to_owned(),
        }
    };
    text.split("\n====\n").map(case).collect()
}

/// The answer of a query in the form of the files, and whether its rows have an order.
fn answer(query: &str) -> (String, bool) {
    match run(query, &Visits, BindOptions::default()) {
        Outcome::Tables(tables) => {
            let sorted = tables.iter().all(|t| t.sorted);
            (print_all(&tables, written), sorted)
        }
        Outcome::Refused(error) => (format!("error {}", error.code), true),
        Outcome::Failed(error) => (format!("failed {error}"), true),
    }
}

/// A cell as the files have it: the empty text is seen, truth values are as `tostring()` writes them.
fn written(array: &ArrayRef, row: usize, kind: ScalarType) -> String {
    match (kind, cell(array, row, kind).as_str()) {
        (_, "") => "\"\"".to_owned(),
        (ScalarType::Bool, "true") => "True".to_owned(),
        (ScalarType::Bool, "false") => "False".to_owned(),
        (_, text) => text.to_owned(),
    }
}

/// Rows in no particular order compare as a bag of lines.
fn same(answer: &str, sorted: bool, expected: &str) -> bool {
    if sorted || answer.contains("\n---\n") {
        return answer == expected;
    }
    let lines = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if let Some(rows) = lines.get_mut(1..) {
            rows.sort();
        }
        lines
    };
    lines(answer) == lines(expected)
}

/// What is wrong with a case.
fn failure(case: &Case) -> Option<String> {
    let (answer, sorted) = answer(&case.query);
    (!same(&answer, sorted, &case.expected)).then(|| {
        format!(
            "{}: {}\n  expected:\n{}\n  answer:\n{answer}\n",
            case.file, case.query, case.expected
        )
    })
}

#[test]
fn the_answers_are_by_the_rules() {
    let all = FOLDERS.iter().flat_map(|name| cases(name));
    let failed: Vec<String> = all.filter_map(|case| failure(&case)).collect();
    let count = failed.len();
    assert!(
        failed.is_empty(),
        "{count} cases fail\n{}",
        failed.join("\n")
    );
}

#[test]
fn the_known_gaps_are_still_gaps() {
    let closed: Vec<String> = cases("known_gaps")
        .into_iter()
        .filter(|case| failure(case).is_none())
        .map(|case| format!("{}: {}", case.file, case.query))
        .collect();
    assert!(
        closed.is_empty(),
        "gaps are closed: move these cases to their files\n{}",
        closed.join("\n")
    );
}

/// Every part of the language has a file of cases: the parser's and the library's own lists say what there is.
#[test]
fn every_part_of_the_language_has_cases() {
    let named = |items: &[hindsight_kql_syntax::reference::Item]| -> Vec<String> {
        items.iter().map(|item| file_name(item.name)).collect()
    };
    let binary = BinaryOp::all().map(BinaryOp::spelling);
    let list = ListOp::ALL.iter().map(|op| op.spelling());
    let scalar = binary.chain(list).chain(["between", "!between"]);
    let aggregates = crate::aggregates::all().map(|a| a.name().to_owned());
    missing("aggregates", aggregates);
    missing("joins", named(JOIN_KINDS));
    missing(
        "operators",
        OPERATORS.iter().map(|item| item.name.to_owned()),
    );
    missing("scalar_operators", scalar.map(scalar_file));
    missing("statements", named(STATEMENTS));
}

#[track_caller]
fn missing(folder: &str, parts: impl IntoIterator<Item = String>) {
    let mut present: BTreeSet<String> = cases(folder).into_iter().map(|c| c.file).collect();
    present.extend(cases("known_gaps").into_iter().map(|c| c.file));
    let missing: BTreeSet<String> = parts
        .into_iter()
        .filter(|part| !present.contains(part))
        .collect();
    assert!(missing.is_empty(), "{folder} without cases: {missing:?}");
}

/// A name as a file's: words with underscores between them.
fn file_name(name: &str) -> String {
    name.to_lowercase().replace([' ', '/'], "_")
}

/// The file of an operator of scalar expressions. Some have one together.
fn scalar_file(spelling: &str) -> String {
    match spelling {
        "+" | "-" | "*" | "/" | "%" | "<" | "<=" | ">" | ">=" => "numerical".to_owned(),
        "and" | "or" => "logical_or_binary".to_owned(),
        "like" | "notlike" | "likecs" | "notlikecs" => "like".to_owned(),
        "==" => "equals".to_owned(),
        "!=" => "not_equals".to_owned(),
        "=~" => "equals_ignore_case".to_owned(),
        "!~" => "not_equals_ignore_case".to_owned(),
        other => match other.strip_prefix('!') {
            Some(positive) => format!("not_{}", scalar_file(positive)),
            None => file_name(&other.replace('~', "_ignore_case")),
        },
    }
}

/// The planning material's own list of the language, where it lies beside the checkout.
#[test]
fn the_inventory_has_cases() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("HINDSIGHT_SHARED").map_or(beside, PathBuf::from);
    let Ok(text) = fs::read_to_string(shared.join("kql/inventory.json")) else {
        eprintln!("skipped: there is no inventory at {}", shared.display());
        return;
    };
    let inventory: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let list = |name: &str| -> Vec<String> {
        let items = inventory.get(name).and_then(serde_json::Value::as_array);
        let texts = items.into_iter().flatten().filter_map(|v| v.as_str());
        // What follows in brackets explains.
        texts
            .map(|t| t.split(" (").next().unwrap_or_default().to_owned())
            .collect()
    };
    missing("aggregates", list("aggregates"));
    missing("joins", list("join_kinds"));
    missing("operators", list("tabular_operators"));
    missing(
        "scalar_operators",
        list("scalar_operators").iter().map(|s| scalar_file(s)),
    );
    missing(
        "statements",
        list("statements").iter().map(|s| file_name(s)),
    );
}

/// Prints a line for each case: whether it is refused, and its result columns. `tests/language_service` compares them with
/// the official parser.
#[test]
#[ignore = "it prints for tests/language_service"]
fn the_verdicts_of_all_cases() {
    for case in FOLDERS.iter().flat_map(|name| cases(name)) {
        let (code, tables) = match run(&case.query, &Visits, BindOptions::default()) {
            Outcome::Tables(tables) => (None, tables),
            Outcome::Refused(error) => (Some(error.code.to_owned()), Vec::new()),
            // It was bound: only its rows failed, and columns are not compared.
            Outcome::Failed(_) => continue,
        };
        let columns = |table: &crate::run::ResultTable| -> Vec<[String; 2]> {
            table
                .columns
                .iter()
                .map(|c| [c.name.clone(), c.kind.to_string()])
                .collect()
        };
        let tables: Vec<_> = tables.iter().map(columns).collect();
        let line = serde_json::json!({
            "file": case.file, "query": case.query, "code": code, "tables": tables,
        });
        writeln!(std::io::stdout(), "verdict {line}").expect("it can be written");
    }
}
