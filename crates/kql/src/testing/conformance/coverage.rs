//! Every part of the language has cases: the parser's and the library's own lists say what there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hindsight_kql_syntax::ast::{BinaryOp, ListOp};
use hindsight_kql_syntax::reference::{Item, JOIN_KINDS, OPERATORS, STATEMENTS};

use super::file;

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
