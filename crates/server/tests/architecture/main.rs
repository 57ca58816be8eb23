//! The edges between crates are those of ARCHITECTURE.md and no others, files of a crate import each other in one direction, and
//! clock, environment and random numbers come in at the places that are named here.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

mod imports;
mod tokens;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use imports::Imports;

const ALLOWED: &[(&str, &[&str])] = &[
    ("hindsight-allocator", &[]),
    ("hindsight-kql-types", &[]),
    ("hindsight-kql-syntax", &["hindsight-kql-types"]),
    (
        "hindsight-kql-library",
        &["hindsight-kql-syntax", "hindsight-kql-types"],
    ),
    (
        "hindsight-kql",
        &[
            "hindsight-kql-library",
            "hindsight-kql-syntax",
            "hindsight-kql-types",
        ],
    ),
    ("hindsight-store", &["hindsight-kql-types"]),
    (
        "hindsight-engine",
        &[
            "hindsight-kql",
            "hindsight-kql-syntax",
            "hindsight-kql-types",
            "hindsight-store",
        ],
    ),
    ("hindsight-identity", &["hindsight-store"]),
    (
        "hindsight-objects",
        &["hindsight-kql-types", "hindsight-store"],
    ),
    (
        "hindsight-ingest",
        &["hindsight-kql-types", "hindsight-rows", "hindsight-store"],
    ),
    ("hindsight-portal", &[]),
    (
        "hindsight-otlp",
        &["hindsight-kql-types", "hindsight-rows", "hindsight-store"],
    ),
    (
        "hindsight-rows",
        &["hindsight-kql-types", "hindsight-store"],
    ),
    (
        "hindsight-server",
        &[
            "hindsight-allocator",
            "hindsight-engine",
            "hindsight-identity",
            "hindsight-ingest",
            "hindsight-kql-types",
            "hindsight-objects",
            "hindsight-portal",
            "hindsight-otlp",
            "hindsight-rows",
            "hindsight-store",
        ],
    ),
];

/// The workspace's crates, each with the workspace crates that it depends on outside its tests.
fn edges() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let name = |value: &serde_json::Value| value["name"].as_str().unwrap_or_default().to_owned();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"]
                .as_array()
                .expect("a list of dependencies");
            let ours = dependencies
                .iter()
                .filter(|d| d["kind"].is_null() && name(d).starts_with("hindsight-"))
                .map(name)
                .collect();
            (name(package), ours)
        })
        .collect()
}

#[test]
fn crates_depend_only_on_what_the_architecture_allows() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let edges = edges();
    assert_eq!(
        edges.len(),
        ALLOWED.len(),
        "a crate was added or removed: {:?}",
        edges.keys()
    );
    for (from, targets) in edges {
        let allowed = allowed
            .get(from.as_str())
            .unwrap_or_else(|| panic!("ARCHITECTURE.md does not know {from}"));
        for to in targets {
            assert!(
                allowed.contains(&to.as_str()),
                "{from} must not depend on {to}"
            );
        }
    }
}

/// The crates whose files are read.
const READ: &[&str] = &[
    "engine",
    "identity",
    "ingest",
    "kql",
    "kql-library",
    "kql-syntax",
    "kql-types",
    "otlp",
    "rows",
    "server",
    "store",
];

fn imports(name: &str) -> Imports {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let imports = Imports::of_crate(&crates.join(name).join("src"));
    assert!(imports.len() > 10, "{name} was not read");
    imports
}

/// Files of a crate import each other in one direction: no file imports, by whatever way round, a file that imports it.
///
/// A file imports another when it uses something that is defined there: in a `use` declaration, or in a path such as
/// `crate::a::b` or `super::f`. A re-export (`pub use`) is an edge from the file that uses the name to the file that
/// defines it, and no edge from the file that re-exports it. So a parent may declare its children and re-export what they define, and the
/// children may use each other through it and use the parent's own items; but a parent whose own code uses a child must
/// define nothing that this child uses. Calls of methods need no import and are not seen: a child may add methods to a
/// parent's type.
#[test]
fn files_of_a_crate_do_not_import_each_other_in_a_circle() {
    for name in READ {
        let circles = imports(name).circles();
        assert!(
            circles.is_empty(),
            "{name} has circles of imports:\n  {}",
            circles.join("\n  ")
        );
    }
}

/// What reads the clock, the environment or random numbers of the system.
const INJECTED: &[&str] = &[
    "std::time::Instant",
    "std::time::SystemTime",
    "std::env",
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "rand::random",
    "rand::rng",
    "rand::rngs::OsRng",
    "uuid::Uuid::new_v4",
    "uuid::Uuid::now_v7",
];

/// The files that may: they make the clock, read settings from the environment, and make ids and secrets.
const SOURCES: &[(&str, &str)] = &[
    ("identity", "password"),
    ("identity", "secret"),
    ("kql", "random"),
    ("kql-library", "functions/encoding/new_guid"),
    ("kql-library", "functions/math/rand"),
    ("server", "cli/data"),
    ("store", "clock"),
    ("store", "ids"),
    ("store", "store_id"),
];

/// Time, environment and random numbers come in from outside, so that tests can fix them (ARCHITECTURE.md, "Invariants").
#[test]
fn clock_environment_and_random_numbers_are_injected() {
    let mut sources = Vec::new();
    for name in READ {
        for (file, path) in imports(name).external(INJECTED) {
            let source = SOURCES
                .iter()
                .find(|known| **known == (*name, file.as_str()));
            assert!(source.is_some(), "{path} is used in {name}, {file}");
            sources.extend(source);
        }
    }
    for known in SOURCES {
        assert!(sources.contains(&known), "{known:?} is no source any more");
    }
}

/// The store reaches its files through one interface, so that its tests can simulate the disk.
#[test]
fn the_store_reaches_files_through_its_vfs_alone() {
    let direct = imports("store").external(&["std::fs", "tokio::fs", "tempfile"]);
    let files: Vec<&str> = direct.iter().map(|(file, _)| file.as_str()).collect();
    assert!(!files.is_empty(), "the interface itself uses them");
    for (file, path) in &direct {
        assert_eq!(file, "vfs", "{path} is used in {file}");
    }
}
