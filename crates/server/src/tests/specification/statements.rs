//! The table of the specification's statements and their proofs, `conformance/specification/statements.md`.

use std::path::Path;

use super::{Section, folder, sections};

/// A row of the table.
struct Statement<'t> {
    text: &'t str,
    proofs: Vec<&'t str>,
}

fn statements(table: &str) -> Vec<Statement<'_>> {
    let is_row = |line: &&str| line.starts_with("| ") && *line != "| statement | proof |";
    let rows = table.lines().filter(is_row);
    rows.map(|line| {
        let (text, proofs) = line
            .trim_matches('|')
            .split_once(" | ")
            .unwrap_or_else(|| panic!("no proof: {line}"));
        Statement {
            text: text.trim(),
            proofs: proofs.split("<br>").map(str::trim).collect(),
        }
    })
    .collect()
}

/// What is wrong with a proof, which is written `` `file`: name ``.
fn flaw(proof: &str, sections: &[Section]) -> Option<String> {
    let Some((file, name)) = proof
        .strip_prefix('`')
        .and_then(|rest| rest.split_once("`: "))
    else {
        return Some("is not `file`: name".to_owned());
    };
    if file.ends_with(".toml") {
        return entry_flaw(file, name, sections);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    let Ok(text) = std::fs::read_to_string(path) else {
        return Some("names no file".to_owned());
    };
    let is_test = if file.ends_with(".py") {
        text.contains(&format!("def {name}("))
    } else {
        is_rust_test(&text, name)
    };
    (!is_test).then(|| "names no test of the file".to_owned())
}

/// Whether the function of this name has an attribute that makes it a test.
fn is_rust_test(text: &str, name: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("fn ")
            .is_some_and(|rest| rest.starts_with(&format!("{name}(")))
    });
    let above = at.map(|at| lines[..at].iter().rev());
    above.is_some_and(|mut above| {
        let attributes = above.by_ref().take_while(|line| line.starts_with('#'));
        attributes
            .into_iter()
            .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

/// What is wrong with a proof that is an entry of a table: `section / row`.
fn entry_flaw(file: &str, name: &str, sections: &[Section]) -> Option<String> {
    if !folder().join(file).is_file() {
        return Some("names no file".to_owned());
    }
    let (title, row_name) = name.split_once(" / ").unwrap_or_default();
    let rows = sections.iter().filter(|section| section.title == title);
    let row = rows.flat_map(|section| &section.row).find(|row| {
        let mut words = row.each.iter().filter_map(|each| each.split(' ').next());
        row.name == row_name || words.any(|word| row.name.replace("{each}", word) == row_name)
    });
    match row {
        None => Some("names no entry".to_owned()),
        Some(row) => row.gap.clone().map(|gap| format!("is a gap: {gap}")),
    }
}

#[test]
fn every_statement_names_tests_that_exist() {
    let table = std::fs::read_to_string(folder().join("statements.md")).unwrap();
    let (statements, sections) = (statements(&table), sections());
    assert!(statements.len() > 250, "{} statements", statements.len());
    let mut flaws = Vec::new();
    for statement in &statements {
        for proof in &statement.proofs {
            if let Some(flaw) = flaw(proof, &sections) {
                flaws.push(format!("{}: {proof} {flaw}", statement.text));
            }
        }
    }
    assert!(flaws.is_empty(), "\n{}", flaws.join("\n"));
}

#[test]
fn proofs_that_do_not_exist_are_found() {
    let sections = sections();
    for (proof, expected) in [
        ("every_row_holds", "is not `file`: name"),
        ("`nothing.rs`: x", "names no file"),
        ("`nothing.toml`: Errors / 400", "names no file"),
        ("`limits.toml`: Errors / 418", "names no entry"),
        ("`limits.toml`: Nothing / 400", "names no entry"),
        (
            "`crates/server/src/tests/specification.rs`: sections",
            "names no test of the file",
        ),
        (
            "`crates/server/src/tests/specification.rs`: nothing",
            "names no test of the file",
        ),
    ] {
        assert_eq!(flaw(proof, &sections).as_deref(), Some(expected), "{proof}");
    }
    let good = "`crates/server/src/tests/specification.rs`: every_row_holds";
    assert_eq!(flaw(good, &sections), None);
}
