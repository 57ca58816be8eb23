//! Tests that every part of the language has cases. The lists of the parser and of the library define the parts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hindsight_kql_syntax::ast::{BinaryOp, ListOp};
use hindsight_kql_syntax::reference::{Item, JOIN_KINDS, OPERATORS, STATEMENTS};

use super::file::{self, CaseFile};
use crate::functions::registry;
use crate::reference::special_functions;

#[test]
fn every_part_of_the_language_has_cases() {
    let named =
        |items: &[Item]| -> Vec<String> { items.iter().map(|item| file_name(item.name)).collect() };
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
    let plugins = crate::plugins::all().iter();
    missing("plugins", plugins.map(|plugin| plugin.name().to_owned()));
    missing("scalar_operators", scalar.map(scalar_file));
    missing("statements", named(STATEMENTS));
}

#[track_caller]
fn missing(folder: &str, parts: impl IntoIterator<Item = String>) {
    let present: BTreeSet<String> = file::names(folder)
        .chain(file::names("known_gaps"))
        .collect();
    let missing: BTreeSet<String> = parts
        .into_iter()
        .filter(|part| !present.contains(part))
        .collect();
    assert!(missing.is_empty(), "{folder} without cases: {missing:?}");
}

/// A name in the form of a file name: words joined by underscores.
fn file_name(name: &str) -> String {
    name.to_lowercase().replace([' ', '/'], "_")
}

/// The file of a scalar operator. Some operators share a file.
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

/// Compares with the list of the language in the folder `HINDSIGHT_SHARED`, or `shared` beside the checkout.
#[test]
#[ignore = "needs the list of the language: set HINDSIGHT_SHARED and run ignored tests too"]
fn the_inventory_has_cases() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("HINDSIGHT_SHARED").map_or(beside, PathBuf::from);
    let text = fs::read_to_string(shared.join("kql/inventory.json")).expect("the list is there");
    let inventory: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let list = |name: &str| -> Vec<String> {
        let items = inventory.get(name).and_then(serde_json::Value::as_array);
        let texts = items.into_iter().flatten().filter_map(|v| v.as_str());
        // Text in brackets is an explanation.
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

/// The minimum number of cases of its file that call a scalar function.
const CASES_OF_A_FUNCTION: usize = 4;

/// Every scalar function has a file of cases under its main name, and every file has a function.
#[test]
fn every_function_has_cases() {
    let functions = functions();
    let files = file::files("functions");
    let covered: BTreeSet<&str> = files
        .iter()
        .filter(|file| {
            let names = functions.get(file.stem()).map(Vec::as_slice);
            calls(file, names.unwrap_or_default()) >= CASES_OF_A_FUNCTION
        })
        .map(CaseFile::stem)
        .collect();
    let known: BTreeSet<&str> = functions.keys().copied().collect();
    let written: BTreeSet<&str> = files.iter().map(CaseFile::stem).collect();
    let without = &known - &covered;
    assert!(
        without.is_empty(),
        "functions without a file of {CASES_OF_A_FUNCTION} cases that call them: {without:?}"
    );
    let unknown = &written - &known;
    assert!(
        unknown.is_empty(),
        "files that name no function: {unknown:?}"
    );
}

/// The scalar functions by main name, with all their names.
fn functions() -> BTreeMap<&'static str, Vec<&'static str>> {
    let library = registry().all().iter().map(|function| {
        let names = function.aliases.iter().copied().chain([function.name()]);
        (function.name(), names.collect())
    });
    let special = special_functions().map(|name| (name, vec![name]));
    library.chain(special).collect()
}

/// The number of cases of a file that call a function by one of its names.
fn calls(file: &CaseFile, names: &[&str]) -> usize {
    let queries = file.cases.iter().map(|case| case.query.as_str());
    queries
        .filter(|query| names.iter().any(|name| has_call(query, name)))
        .count()
}

/// Whether the query contains the name followed by a bracket.
fn has_call(query: &str, name: &str) -> bool {
    query.match_indices(name).any(|(at, _)| {
        let is_whole = !query[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        is_whole && query[at + name.len()..].trim_start().starts_with('(')
    })
}

#[test]
fn a_call_is_the_whole_name_with_a_bracket() {
    assert!(has_call("print bin (1, 2)", "bin"));
    assert!(has_call("print binary_not(bin(1, 2))", "bin"));
    assert!(!has_call("print bin_at(1, 2, 3)", "bin"));
    assert!(!has_call("print robin(1)", "bin"));
    assert!(!has_call("print bin", "bin"));
}
