//! Every query of the conformance cases prints as KQL that parses to an equal tree.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use std::fs;
use std::path::{Path, PathBuf};

use hindsight_kql_syntax::parse;

/// The files in a folder and its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            found.extend(files(&path))
        } else {
            found.push(path)
        }
    }
    found
}

/// The queries of a file of cases.
fn queries(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("it can be read");
    text.split("\n====\n").map(query).collect()
}

/// The query of a case: what follows its comments and its tables, up to the line `----`.
fn query(case: &str) -> String {
    let mut lines = case.lines().take_while(|line| *line != "----").peekable();
    let is_table = |line: &str| {
        let name = line.strip_prefix("table ");
        name.is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    };
    let is_before = |line: &&str| line.starts_with('#') || line.trim().is_empty() || is_table(line);
    while let Some(line) = lines.next_if(is_before) {
        if is_table(line) {
            // An empty line ends a table.
            lines.by_ref().find(|row| row.trim().is_empty());
        }
    }
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_queries_of_all_cases_read_back_as_they_print() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/kql");
    let cases = files(&folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "kqlt"));
    let mut read = 0;
    for query in cases.flat_map(|path| queries(&path)) {
        let parsed = parse(&query);
        if !parsed.diagnostics.is_empty() {
            continue;
        }
        let printed = parsed.query.to_string();
        let again = parse(&printed);
        assert_eq!(again.diagnostics, [], "{query}\n{printed}");
        // A tree with NaN is not equal to itself.
        if parsed.query == parsed.query.clone() {
            assert_eq!(again.query, parsed.query, "{query}\n{printed}");
        }
        assert_eq!(again.query.to_string(), printed);
        read += 1;
    }
    assert!(read > 200, "only {read} queries were found");
}
