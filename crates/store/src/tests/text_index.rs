//! The index of terms: it leaves out blocks that cannot match and never a row that does, and nothing depends on it.

use std::path::PathBuf;

use datafusion::catalog::TableProvider;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::collect;
use datafusion::prelude::{col, lit};
use hindsight_kql_types::terms::{TermCondition, terms};
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::*;
use crate::FilterTerms;

/// Rows of the tests' segment: four blocks and a part of one.
const ROWS: usize = 40_000;
/// Rows of a block of the index.
const BLOCK: usize = 1024;
/// The row with the rare term.
const RARE: usize = 20_000;

fn message(row: usize) -> String {
    let rare = if row == RARE { " Deadlock!" } else { "" };
    // Terms that differ from row to row make the index large.
    format!(
        "order={row} elapsed={}ms x{row} y{row} café{rare}",
        row % 100
    )
}

fn traces() -> RecordBatch {
    let times: Int64Array = (0..ROWS).map(|row| START - 1 - row as i64).collect();
    let messages: StringViewArray = (0..ROWS).map(|row| Some(message(row))).collect();
    let columns: [(&str, ArrayRef); 2] = [
        ("timestamp", Arc::new(times)),
        ("message", Arc::new(messages)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A store of which one segment has the traces.
async fn filled(config: StoreConfig) -> Arc<Store> {
    let store = Store::open(config).await.unwrap();
    let batches = vec![(Table::Traces, traces())];
    let app = app(1);
    store.append(AppendRequest { app, batches }).await.unwrap();
    store.seal_all().await.unwrap();
    store
}

/// Any filter requires this.
#[derive(Debug, Clone)]
struct Requires(TermCondition);

impl FilterTerms for Requires {
    fn required(&self, _filter: &Expr) -> Option<TermCondition> {
        Some(self.0.clone())
    }
}

fn has(term: &str) -> TermCondition {
    TermCondition::Has {
        column: "message".to_owned(),
        term: term.to_owned(),
    }
}

/// The messages that a scan returns under a condition; the filter itself is not evaluated.
async fn read(store: &Store, condition: TermCondition) -> Vec<String> {
    let table = store.snapshot().table(&[app(1)], Table::Traces);
    let table = table.with_terms_of(Arc::new(Requires(condition)));
    let state = session().state();
    let column = vec![table.schema().index_of("message").unwrap()];
    let filter = [col("message").not_eq(lit("?"))];
    let plan = table.scan(&state, Some(&column), &filter, None).await;
    let batches = collect(plan.unwrap(), state.task_ctx()).await.unwrap();
    let texts = |batch: &RecordBatch| -> Vec<String> {
        let texts = batch.column(0).as_string_view();
        texts.iter().map(|text| text.unwrap().to_owned()).collect()
    };
    batches.iter().flat_map(texts).collect()
}

#[tokio::test]
async fn blocks_without_a_term_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(quiet(dir.path())).await;
    let check = async |condition: TermCondition, rows: usize| {
        let read = read(&store, condition.clone()).await;
        assert_eq!(read.len(), rows, "{condition:?}");
        read
    };
    let block = check(has("deadlock"), BLOCK).await;
    assert!(block.contains(&message(RARE)));
    check(has("nowhere"), 0).await;
    // Most blocks match, so the segment is read whole.
    check(has("café"), ROWS).await;
    let both = |one, two| vec![has(one), has(two)];
    check(TermCondition::All(both("café", "deadlock")), BLOCK).await;
    check(TermCondition::All(both("x1", "deadlock")), 0).await;
    check(TermCondition::Any(both("x1", "deadlock")), 2 * BLOCK).await;
    check(TermCondition::Any(both("x1", "nowhere")), BLOCK).await;
    let unknown = TermCondition::Has {
        column: "user_Id".to_owned(),
        term: "nowhere".to_owned(),
    };
    check(unknown.clone(), ROWS).await;
    check(TermCondition::Any(vec![has("x1"), unknown]), ROWS).await;
}

#[tokio::test]
async fn no_term_of_a_text_is_missing_before_and_after_a_merge() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        ..quiet(dir.path())
    };
    let store = filled(config).await;
    let whole = async || {
        for row in (0..ROWS).step_by(997).chain([RARE]) {
            let message = message(row);
            let folded = message.to_lowercase();
            let terms = terms(&folded).map(|(_, term)| has(term));
            let read = read(&store, TermCondition::All(terms.collect())).await;
            assert!(read.contains(&message) && read.len() < ROWS, "{message}");
        }
    };
    whole().await;
    let batches = vec![(Table::Traces, traces().slice(0, 1))];
    let app = app(1);
    store.append(AppendRequest { app, batches }).await.unwrap();
    store.seal_all().await.unwrap();
    clock.pass(std::time::Duration::from_secs(3 * 86_400));
    assert_eq!(store.compact().await.unwrap(), 1);
    assert_eq!(store.stats().tables[0].segments, 1);
    whole().await;
}

#[tokio::test]
async fn an_index_that_is_off_missing_or_damaged_excludes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let off = |dir: &Path| StoreConfig {
        text_index: false,
        ..quiet(dir)
    };
    filled(off(dir.path())).await.close().await.unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(read(&store, has("deadlock")).await.len(), ROWS, "missing");
    store.close().await.unwrap();

    let dir = tempfile::tempdir().unwrap();
    filled(quiet(dir.path())).await.close().await.unwrap();
    let store = Store::open(off(dir.path())).await.unwrap();
    assert_eq!(read(&store, has("deadlock")).await.len(), ROWS, "off");
    store.close().await.unwrap();
    drop(store);

    let path = file_of_traces(dir.path());
    let (begin, end) = place_of_index(&path);
    assert!(
        end - begin > 3 * 32_768,
        "it has blocks of its own: {begin}–{end}"
    );
    let mut bytes = std::fs::read(&path).unwrap();
    // The checksums are of blocks of 32 KiB; the first and the last block of the index are also those of its neighbours.
    let inner = begin.next_multiple_of(32_768)..end / 32_768 * 32_768;
    bytes[inner].iter_mut().for_each(|byte| *byte ^= 1);
    std::fs::write(&path, bytes).unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let mut damaged = 0;
    for row in 0..20 {
        let read = read(&store, has(&format!("x{row}"))).await;
        assert!(read.contains(&message(row)));
        damaged += usize::from(read.len() == ROWS);
    }
    assert!(damaged > 10, "{damaged}");
    assert_eq!(store.damaged_segments(), 0, "its rows can be read");
    store.close().await.unwrap();
    drop(store);
    let report = crate::check(dir.path(), None, Arc::new(())).await.unwrap();
    assert_eq!(report.damage.len(), 1, "a check of the store finds it");
}

fn file_of_traces(dir: &Path) -> PathBuf {
    let folder = dir.join("segments").join(app(1).to_string());
    let mut files = std::fs::read_dir(folder.join("traces")).unwrap();
    files.next().unwrap().unwrap().path()
}

/// The bytes of the file that the footer names as the index.
fn place_of_index(path: &Path) -> (usize, usize) {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let file = reader.metadata().file_metadata();
    let entries = file.key_value_metadata().unwrap();
    let entry = entries.iter().find(|e| e.key == "hindsight.text_index");
    let text = entry.unwrap().value.as_ref().unwrap();
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let sections = value["columns"]["message"].as_array().unwrap();
    let number = |place: &serde_json::Value| usize::try_from(place.as_u64().unwrap()).unwrap();
    let ends = sections.iter().map(|section| {
        let begin = number(&section[0]);
        (
            begin,
            begin + number(&section[1]) * number(&section[2]) * 32,
        )
    });
    let ends: Vec<_> = ends.collect();
    (ends.first().unwrap().0, ends.last().unwrap().1)
}
