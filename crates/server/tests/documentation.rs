//! What the documents and the code refer to is there: links, sections of the rule book and of the API's facts, decisions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Folders that hold no text of this repository.
const SKIPPED: [&str; 5] = ["target", ".git", "node_modules", ".venv", "__pycache__"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every text file below the repository's root with one of these endings, with its text.
fn files(endings: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_name().and_then(|name| name.to_str());
            if path.is_dir() {
                if !name.is_some_and(|name| SKIPPED.contains(&name)) {
                    folders.push(path);
                }
                continue;
            }
            let ending = path.extension().and_then(|ending| ending.to_str());
            if ending.is_some_and(|ending| endings.contains(&ending)) {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                found.push((path, text));
            }
        }
    }
    assert!(
        !found.is_empty(),
        "the repository has files that end in {endings:?}"
    );
    found
}

/// The targets of the Markdown links of a text that lead into the repository.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("](").filter_map(|(at, _)| {
        let target = text.get(at + 2..)?.split(')').next()?;
        let elsewhere = target.contains("://") || target.starts_with("mailto:");
        (!elsewhere && !target.contains(char::is_whitespace)).then_some(target)
    })
}

/// How a heading is addressed in a link: lower case, blanks as hyphens, without punctuation.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let text: String = heading.trim().chars().filter(kept).collect();
    text.to_lowercase().replace(' ', "-")
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    let heading = |line: &&str| line.starts_with('#');
    text.lines()
        .filter(heading)
        .map(|line| line.trim_start_matches('#').trim())
}

#[test]
fn every_link_of_a_document_leads_somewhere() {
    let mut broken = Vec::new();
    for (path, text) in files(&["md"]) {
        let folder = path.parent().expect("a file lies in a folder");
        for link in links(&text) {
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => folder.join(file),
            };
            let there = target.exists()
                && (fragment.is_empty()
                    || std::fs::read_to_string(&target)
                        .is_ok_and(|text| headings(&text).any(|h| anchor(h) == fragment)));
            if !there {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The numbers of the numbered headings below a file or folder: `5.1` of `### 5.1 Null results`, `D7` of `## D7. …`.
fn numbered(place: &str) -> BTreeSet<String> {
    let place = root().join(place);
    let texts: Vec<String> = match place.is_dir() {
        true => std::fs::read_dir(&place)
            .expect("a readable folder")
            .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("UTF-8"))
            .collect(),
        false => vec![std::fs::read_to_string(&place).expect("UTF-8")],
    };
    let number = |heading: &str| {
        let first = heading.split_whitespace().next()?;
        Some(first.trim_end_matches('.').to_owned())
    };
    let numbers = texts
        .iter()
        .flat_map(|text| headings(text).filter_map(number));
    numbers
        .filter(|number| number.contains(|c: char| c.is_ascii_digit()))
        .collect()
}

/// The sections that a text cites of a document: `§5.1` and `§5.2` of `semantics.md §5.1, §5.2`.
fn cited<'a>(text: &'a str, document: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(document).flat_map(move |(at, _)| {
        let rest = text.get(at + document.len()..).unwrap_or_default();
        let mut sections = Vec::new();
        let mut rest = rest.trim_start();
        while let Some(after) = rest.strip_prefix('§') {
            let end = after
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(after.len());
            let (section, then) = after.split_at(end);
            sections.push(section.trim_end_matches('.'));
            rest = then.trim_start_matches([',', ' ']);
        }
        sections
    })
}

const CODE: &[&str] = &["rs", "py", "toml", "kqlt", "txt", "md", "sql"];

#[test]
fn every_cited_section_is_written_down() {
    let mut missing = Vec::new();
    for (document, place) in [
        ("semantics.md", "docs/semantics"),
        ("api-facts.md", "docs/api-facts.md"),
    ] {
        let known = numbered(place);
        assert!(known.len() > 5, "{place} has numbered sections");
        for (path, text) in files(CODE) {
            for section in cited(&text, document) {
                if !known.contains(section) {
                    missing.push(format!("{}: {document} §{section}", path.display()));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_cited_decision_is_written_down() {
    let known = numbered("docs/decisions.md");
    assert!(known.contains("D1"), "{known:?}");
    let mut missing = Vec::new();
    for (path, text) in files(CODE) {
        for part in text.split('`') {
            let digits = part.strip_prefix('D').unwrap_or_default();
            let decision =
                (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
            if decision && !known.contains(part) {
                missing.push(format!("{}: {part}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
