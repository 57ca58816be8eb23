//! The cases of `conformance/kql`: queries with the answers that the language's rules give (see its README).

mod answer;
mod coverage;
mod file;
mod messages;
mod tables;

use std::collections::BTreeMap;
use std::io::Write;

use self::answer::{Answer, outcome};
use self::file::{Case, CaseFile, files, selected_files};
use self::tables::CaseTables;
use super::{Outcome, run};
use crate::BindOptions;
use crate::run::ResultTable;

/// The folders whose cases must pass.
const FOLDERS: [&str; 8] = [
    "aggregates",
    "errors",
    "functions",
    "joins",
    "operators",
    "plugins",
    "scalar_operators",
    "statements",
];

/// With `UPDATE_EXPECT=1` the answers replace the expectations of the failing cases.
#[test]
fn the_answers_are_by_the_rules() {
    let update = std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1");
    let mut failed = Vec::new();
    for mut file in selected_files(&FOLDERS) {
        if update {
            update_expectations(&mut file);
        }
        let failures = file.cases.iter().filter_map(failure);
        failed.extend(failures.map(|text| format!("{}: {text}", file.name)));
    }
    assert!(
        failed.is_empty(),
        "{} cases fail\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The failure of a case, if it fails.
fn failure(case: &Case) -> Option<String> {
    let answer = Answer::of(case);
    (!answer.is(&case.expected)).then(|| {
        format!(
            "{}\n  expected:\n{}\n  answer:\n{}\n",
            case.query, case.expected, answer.text
        )
    })
}

/// Replaces the expectations of the cases of a file by their answers, and writes the file.
fn update_expectations(file: &mut CaseFile) {
    let mut changed = false;
    for case in &mut file.cases {
        let answer = Answer::of(case);
        if answer.is_expectable && !answer.is(&case.expected) {
            case.expected = answer.text;
            changed = true;
        }
    }
    if changed {
        file.write();
        eprintln!("rewritten: {}", file.name);
    }
}

#[test]
fn the_known_gaps_are_still_gaps() {
    let mut closed = Vec::new();
    for file in files("known_gaps") {
        let passing = file.cases.iter().filter(|case| failure(case).is_none());
        closed.extend(passing.map(|case| format!("{}: {}", file.name, case.query)));
    }
    assert!(
        closed.is_empty(),
        "gaps are closed: move these cases to their files\n{}",
        closed.join("\n")
    );
}

/// Prints a line for each query of standard input, one JSON text a line: its errors, each with the offset of its first byte.
/// `tests/language_service/broken.py` compares them with those of the official parser.
#[test]
#[ignore = "it prints for tests/language_service"]
fn the_errors_of_given_queries() {
    for line in std::io::stdin().lines() {
        let line = line.expect("standard input can be read");
        let query: String = serde_json::from_str(&line).expect("it is a JSON text");
        let outcome = run(&query, &CaseTables(&[]), BindOptions::default());
        let errors: Vec<serde_json::Value> = match outcome {
            Outcome::Refused(errors) => errors
                .iter()
                .map(|e| serde_json::json!([e.span.start, e.message]))
                .collect(),
            Outcome::Tables(_) | Outcome::Failed(_) => Vec::new(),
        };
        let answer = serde_json::json!({ "errors": errors });
        writeln!(std::io::stdout(), "errors {answer}").expect("it can be written");
    }
}

/// Prints a line for each case: whether it is refused, the columns of its result, and the tables that it defines.
/// `tests/language_service` compares them with the official parser.
#[test]
#[ignore = "it prints for tests/language_service"]
fn the_verdicts_of_all_cases() {
    for file in selected_files(&FOLDERS) {
        for case in &file.cases {
            if let Some(verdict) = verdict(&file.name, case) {
                writeln!(std::io::stdout(), "verdict {verdict}").expect("it can be written");
            }
        }
    }
}

fn verdict(file: &str, case: &Case) -> Option<serde_json::Value> {
    let (code, tables) = match outcome(case) {
        Outcome::Tables(tables) => (None, tables),
        Outcome::Refused(errors) => (errors.first().map(|error| error.code), Vec::new()),
        // The query was bound and failed only during execution, and columns are not compared.
        Outcome::Failed(_) => return None,
    };
    let columns = |table: &ResultTable| -> Vec<[String; 2]> {
        let columns = table.columns.iter();
        columns
            .map(|c| [c.name.clone(), c.kind.to_string()])
            .collect()
    };
    let own: BTreeMap<&str, Vec<[String; 2]>> = case
        .tables
        .iter()
        .map(|table| {
            let columns = table.columns().iter();
            let columns = columns.map(|(name, kind)| [name.clone(), kind.to_string()]);
            (table.name(), columns.collect())
        })
        .collect();
    Some(serde_json::json!({
        "file": file,
        "query": case.query,
        "own": own,
        "code": code.map(hindsight_kql_syntax::Code::as_str),
        "tables": tables.iter().map(columns).collect::<Vec<_>>(),
    }))
}
