//! The edges between crates are those of ARCHITECTURE.md, and no others.

use std::collections::BTreeMap;
use std::process::Command;

const ALLOWED: &[(&str, &[&str])] = &[
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
        "hindsight-server",
        &[
            "hindsight-engine",
            "hindsight-identity",
            "hindsight-kql-types",
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
