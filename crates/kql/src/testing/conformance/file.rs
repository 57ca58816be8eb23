//! Reads, selects and rewrites the case files. `conformance/README.md` describes their format.

use std::fs;
use std::path::{Path, PathBuf};

use super::tables::OwnTable;

/// The separator of two cases.
const NEXT_CASE: &str = "\n====\n";

/// The separator of a query and its answer.
const ANSWER: &str = "\n----\n";

/// A query with its expected answer.
pub(super) struct Case {
    /// The text of the file before the answer: comments, tables, query, and the line `----`.
    head: String,
    /// The tables that the case defines.
    pub(super) tables: Vec<OwnTable>,
    pub(super) query: String,
    pub(super) expected: String,
}

/// A file of cases.
pub(super) struct CaseFile {
    path: PathBuf,
    /// The folder and the name without its extension: `functions/strlen`.
    pub(super) name: String,
    pub(super) cases: Vec<Case>,
}

impl CaseFile {
    fn read(path: PathBuf, folder: &str) -> CaseFile {
        let text = fs::read_to_string(&path).expect("it can be read");
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{folder}/{stem}");
        let text = text.trim_end();
        let cases = text
            .split(NEXT_CASE)
            .map(|part| Case::parse(part, &name))
            .collect();
        CaseFile { path, name, cases }
    }

    /// The name without its folder.
    pub(super) fn stem(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// Writes the file with the current expectations of its cases.
    pub(super) fn write(&self) {
        let parts: Vec<String> = self
            .cases
            .iter()
            .map(|case| format!("{}{}", case.head, case.expected))
            .collect();
        let text = format!("{}\n", parts.join(NEXT_CASE));
        fs::write(&self.path, text).expect("the file can be written");
    }
}

impl Case {
    fn parse(part: &str, file: &str) -> Case {
        // A new case may end with the line `----`: its answer is not written yet.
        let part = format!("{part}\n");
        let Some(at) = part.find(ANSWER) else {
            panic!("{file}: a case has no line ----\n{part}");
        };
        let (head, expected) = part.split_at(at + ANSWER.len());
        let mut tables = Vec::new();
        let mut lines = part[..at].lines().peekable();
        while let Some(line) = lines.next_if(|line| is_before_query(line)) {
            if let Some(declaration) = OwnTable::declaration(line) {
                let rows = lines.by_ref().take_while(|line| !line.trim().is_empty());
                let table = OwnTable::parse(declaration, rows);
                tables.push(table.unwrap_or_else(|error| panic!("{file}: {line}\n{error}")));
            }
        }
        let query: Vec<&str> = lines.collect();
        Case {
            tables,
            query: query.join("\n").trim().to_owned(),
            expected: expected.trim_end().to_owned(),
            head: head.to_owned(),
        }
    }
}

/// Whether the line precedes the query: a comment, an empty line or the declaration of a table.
fn is_before_query(line: &str) -> bool {
    line.starts_with('#') || line.trim().is_empty() || OwnTable::declaration(line).is_some()
}

/// `conformance/kql`. Cargo and nextest name the package's folder when they run a test; the one of the build is right where
/// the test's program is run by itself.
pub(super) fn root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.join("../../conformance/kql")
}

/// The case files of a folder, ordered by name.
pub(super) fn files(folder: &str) -> Vec<CaseFile> {
    paths(folder)
        .into_iter()
        .map(|path| CaseFile::read(path, folder))
        .collect()
}

/// The names of the case files of a folder, without extension.
pub(super) fn names(folder: &str) -> impl Iterator<Item = String> {
    paths(folder)
        .into_iter()
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
}

fn paths(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| is_case_file(path))
        .collect();
    paths.sort();
    paths
}

fn is_case_file(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "kqlt")
}

/// The case files of `folders` that the environment variable CONFORMANCE selects; all files if it is not set. Its value is a
/// comma-separated list of files (`functions/strlen`), of name prefixes (`functions/geo_*`) and of folders (`functions`).
pub(super) fn selected_files(folders: &[&str]) -> Vec<CaseFile> {
    let all = folders.iter().flat_map(|folder| files(folder));
    let Ok(selection) = std::env::var("CONFORMANCE") else {
        return all.collect();
    };
    let patterns: Vec<&str> = selection.split(',').map(str::trim).collect();
    let selected: Vec<CaseFile> = all
        .filter(|file| patterns.iter().any(|p| is_selected(&file.name, p)))
        .collect();
    assert!(
        !selected.is_empty(),
        "CONFORMANCE={selection} selects no file of cases"
    );
    selected
}

fn is_selected(name: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern || name.split('/').next() == Some(pattern),
    }
}

#[test]
fn a_case_has_comments_then_tables_then_its_query() {
    let text = "# Why.\ntable t (n:long)\n1\n\n# More.\ntable u (s:string)\n\"\"\n\nt\n| count\n----\nCount:long\n1";
    let case = Case::parse(text, "x");
    assert_eq!(case.query, "t\n| count");
    assert_eq!(case.expected, "Count:long\n1");
    assert_eq!(format!("{}{}", case.head, case.expected), text);
    let tables: Vec<&str> = case.tables.iter().map(OwnTable::name).collect();
    assert_eq!(tables, ["t", "u"]);
}

#[test]
fn a_case_without_an_answer_waits_for_one() {
    let case = Case::parse("print 1\n----", "x");
    assert_eq!((&*case.query, &*case.expected), ("print 1", ""));
    assert_eq!(case.head, "print 1\n----\n");
}

#[test]
fn files_are_selected_by_folder_name_and_beginning() {
    let selected = |pattern| is_selected("functions/bin_at", pattern);
    assert!(selected("functions/bin_at"));
    assert!(selected("functions/bin*"));
    assert!(selected("functions"));
    assert!(!selected("functions/bin"));
    assert!(!selected("aggregates"));
}
