//! The cases of `conformance/kql`: queries with the answers that the language's rules give (see its README).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringViewArray,
};
use arrow::datatypes::{Field, Int64Type, Schema};
use datafusion::datasource::MemTable;
use hindsight_kql::functions::text::to_text;
use hindsight_kql::run::{BindError, ResultTable, bind_with_rows, collect, session_context};
use hindsight_kql::{BindOptions, Catalog, CatalogError, CatalogTable, TableScope};
use hindsight_kql_types::{ScalarType, datetime};

/// One table, `visits`, which every application has.
struct Visits;

impl Catalog for Visits {
    fn table(&self, _: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError> {
        Ok((name == "visits").then(visits))
    }

    fn table_names(&self, _: &TableScope) -> Result<Vec<String>, CatalogError> {
        Ok(vec!["visits".to_owned()])
    }
}

fn visits() -> CatalogTable {
    let columns = vec![
        ("timestamp".to_owned(), ScalarType::DateTime),
        ("page".to_owned(), ScalarType::String),
        ("seconds".to_owned(), ScalarType::Real),
    ];
    let start = hindsight_kql_types::ticks::UNIX_EPOCH_TICKS;
    let hour = hindsight_kql_types::ticks::TICKS_PER_HOUR;
    let times = vec![start, start + hour, start + 2 * hour];
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(times)),
        Arc::new(StringViewArray::from(vec!["home", "basket", "home"])),
        Arc::new(Float64Array::from(vec![Some(1.5), Some(20.0), None])),
    ];
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, kind)| Field::new(name, kind.arrow(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).expect("the columns fit");
    let provider = MemTable::try_new(schema, vec![vec![batch]]).expect("the batch fits");
    CatalogTable {
        name: "visits".to_owned(),
        columns,
        provider: Arc::new(provider),
    }
}

struct Case {
    file: String,
    query: String,
    expected: String,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../conformance/kql")
        .join(name)
}

/// The cases of every file in a folder.
fn cases(folder: &Path) -> Vec<Case> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
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
    let parsed = hindsight_kql_syntax::parse(query);
    if let Some(error) = parsed.diagnostics.first() {
        return (format!("error {}", error.code), true);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let context = session_context();
    let options = BindOptions::default();
    let bound = runtime.block_on(bind_with_rows(&parsed.query, &Visits, options, &context));
    let bound = match bound {
        Ok(bound) => bound,
        Err(BindError::Diagnostics(errors)) => {
            let code = errors.first().map_or("", |e| e.code);
            return (format!("error {code}"), true);
        }
        Err(BindError::Run(error)) => return (format!("failed {error}"), true),
    };
    match runtime.block_on(collect(bound, &context)) {
        Ok(tables) => {
            let sorted = tables.iter().all(|t| t.sorted);
            let texts: Vec<String> = tables.iter().map(print).collect();
            (texts.join("\n---\n"), sorted)
        }
        Err(error) => (format!("failed {error}"), true),
    }
}

fn print(table: &ResultTable) -> String {
    let header: Vec<String> = table
        .columns
        .iter()
        .map(|c| format!("{}:{}", c.name, c.kind))
        .collect();
    let mut lines = vec![header.join(", ")];
    for batch in &table.batches {
        for row in 0..batch.num_rows() {
            let columns = batch.columns().iter().zip(&table.columns);
            let cells: Vec<String> = columns
                .map(|(array, column)| cell(array, row, column.kind))
                .collect();
            lines.push(cells.join(" | "));
        }
    }
    lines.join("\n")
}

fn cell(array: &ArrayRef, row: usize, kind: ScalarType) -> String {
    if array.is_null(row) {
        return "null".to_owned();
    }
    if kind == ScalarType::DateTime {
        let mut text = String::new();
        let ticks = array.as_primitive::<Int64Type>().value(row);
        datetime::write_trimmed(ticks, &mut text).expect("text can be written");
        return text;
    }
    let texts = to_text(array, kind).expect("every value has a text");
    match texts.value(row) {
        "" => "\"\"".to_owned(),
        text => text.to_owned(),
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

/// How many cases a folder has, and what is wrong with those that fail.
fn failures(folder: &Path) -> (usize, Vec<String>) {
    let cases = cases(folder);
    let failed = cases.iter().filter_map(|case| {
        let (answer, sorted) = answer(&case.query);
        (!same(&answer, sorted, &case.expected)).then(|| {
            format!(
                "{}: {}\n  expected:\n{}\n  answer:\n{answer}\n",
                case.file, case.query, case.expected
            )
        })
    });
    let failed: Vec<String> = failed.collect();
    (cases.len(), failed)
}

#[track_caller]
fn all_hold(name: &str) {
    let (_, failed) = failures(&folder(name));
    let count = failed.len();
    assert!(
        failed.is_empty(),
        "{count} cases fail\n{}",
        failed.join("\n")
    );
}

#[test]
fn the_operators_answer_by_the_rules() {
    all_hold("operators");
}

#[test]
fn the_joins_answer_by_the_rules() {
    all_hold("joins");
}

#[test]
fn the_statements_answer_by_the_rules() {
    all_hold("statements");
}

#[test]
fn the_known_gaps_are_still_gaps() {
    let (all, failed) = failures(&folder("known_gaps"));
    assert_eq!(
        failed.len(),
        all,
        "a gap is closed: move its case to its operator's file; the others:\n{}",
        failed.join("\n")
    );
}

/// Every tabular operator of the language.
const OPERATORS: &str = "as assert-schema consume count datatable distinct evaluate extend facet find fork getschema \
    invoke join lookup macro-expand make-series mv-apply mv-expand parse parse-kv parse-where partition print project \
    project-away project-by-names project-keep project-rename project-reorder range reduce render sample \
    sample-distinct scan search serialize sort summarize take top top-hitters top-nested union where";

/// Every kind of `join`.
const JOINS: &str =
    "innerunique inner leftouter rightouter fullouter leftsemi leftanti rightsemi rightanti";

#[test]
fn every_operator_and_join_kind_has_cases() {
    for (name, all) in [("operators", OPERATORS), ("joins", JOINS)] {
        let present: BTreeSet<String> = cases(&folder(name)).into_iter().map(|c| c.file).collect();
        let missing: Vec<&str> = all.split(' ').filter(|n| !present.contains(*n)).collect();
        assert!(missing.is_empty(), "{name} without cases: {missing:?}");
    }
}
