//! The index of values: it leaves out blocks that cannot have a value and never one that has it, and nothing depends on it.

use datafusion::prelude::{col, lit};

use super::*;
use crate::segment::{Lookup, RowParts};

/// Rows of the tests' segment: ten row groups, the last of which is not whole.
const ROWS: usize = 40_000;
/// Rows of a block of the index.
const BLOCK: usize = 2048;

fn settings(dir: &Path) -> StoreConfig {
    StoreConfig {
        row_group_rows: 4096,
        ..quiet(dir)
    }
}

fn id(row: usize) -> String {
    format!("{:x}", row * 2_654_435_761)
}

/// A store of which one segment has the rows, the first of which is the newest.
async fn filled(config: StoreConfig) -> Arc<Store> {
    let store = Store::open(config).await.unwrap();
    let items: Vec<Item> = (0..ROWS)
        .map(|row| item(id(row), -1 - row as i64))
        .collect();
    put(&store, app(1), &items).await.unwrap();
    store.seal_all().await.unwrap();
    store
}

/// What the scan of the only segment reads for look-ups.
fn parts(store: &Store, lookups: &[(&str, &[String])]) -> RowParts {
    let view = store.view.get();
    let mut segments = view.tables.values().flat_map(|state| state.segments.iter());
    let lookups = lookups.iter().map(|(column, values)| Lookup {
        column: (*column).to_owned(),
        values: values.to_vec(),
    });
    let lookups: Vec<Lookup> = lookups.collect();
    let segment = segments.next().unwrap();
    store.access.rows_with_values(segment, &lookups).unwrap()
}

/// How many rows it reads, after a check that these are among them.
fn read(store: &Store, lookups: &[(&str, &[String])], rows: &[usize]) -> usize {
    let ranges = parts(store, lookups).ranges();
    for row in rows {
        let mut ranges = ranges.iter();
        assert!(ranges.any(|range| range.contains(row)), "{row} is left out");
    }
    ranges.iter().map(ExactSizeIterator::len).sum()
}

/// The mean of the rows that are read for one of `column`, over rows from everywhere.
fn mean_read(store: &Store, column: &str) -> usize {
    let rows: Vec<usize> = (0..ROWS).step_by(997).chain([ROWS - 1]).collect();
    let all: usize = rows
        .iter()
        .map(|row| read(store, &[(column, &[id(*row)])], &[*row]))
        .sum();
    all / rows.len()
}

#[tokio::test]
async fn blocks_without_a_value_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(settings(dir.path())).await;
    for column in ["id", "itemId"] {
        let mean = mean_read(&store, column);
        assert!(
            (BLOCK / 2..BLOCK * 3 / 2).contains(&mean),
            "{column}: {mean}"
        );
    }
    let rows = [5, 10_000, 39_999];
    let some = rows.map(id);
    let found = read(&store, &[("id", &some)], &rows);
    assert!(found <= 5 * BLOCK, "{found}");
    let found = read(
        &store,
        &[("id", &some), ("itemId", &some[1..2])],
        &rows[1..2],
    );
    assert!(found <= 2 * BLOCK, "{found}");
    let nowhere: Vec<String> = (0..100).map(|n| format!("nowhere{n}")).collect();
    let found: usize = nowhere
        .iter()
        .map(|id| read(&store, &[("id", std::slice::from_ref(id))], &[]))
        .sum();
    assert!(
        found < 10 * BLOCK,
        "{found} rows for 100 values that are not there"
    );
}

#[tokio::test]
async fn look_ups_find_every_row_before_and_after_a_merge() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        ..settings(dir.path())
    };
    let store = filled(config).await;
    let whole = async || {
        for row in (0..ROWS).step_by(3989).chain([ROWS - 1]) {
            let others = [id(row), id((row + 17_000) % ROWS), "nowhere".to_owned()];
            let mut expected = others[..2].to_vec();
            expected.sort_unstable();
            let of_list = col("id").in_list(others.iter().map(lit).collect(), false);
            for (filter, expected) in [
                (col("id").eq(lit(id(row))), vec![id(row)]),
                (of_list, expected),
            ] {
                let found = frame(&store.snapshot(), app(1)).filter(filter).unwrap();
                assert_eq!(ids_of(found).await, expected, "{row}");
            }
        }
    };
    whole().await;
    put(&store, app(1), &[item("late", -5)]).await.unwrap();
    store.seal_all().await.unwrap();
    clock.pass(std::time::Duration::from_secs(3 * 86_400));
    assert_eq!(store.compact().await.unwrap(), 1);
    assert_eq!(store.stats().tables[0].segments, 1);
    whole().await;
    let mean = mean_read_after_merge(&store);
    assert!((BLOCK / 2..BLOCK * 3 / 2).contains(&mean), "{mean}");
}

/// As [`mean_read`], after a row was added before the sixth.
fn mean_read_after_merge(store: &Store) -> usize {
    let rows: Vec<usize> = (10..ROWS).step_by(997).collect();
    let all: usize = rows
        .iter()
        .map(|row| read(store, &[("id", &[id(*row)])], &[row + 1]))
        .sum();
    all / rows.len()
}

#[tokio::test]
async fn an_index_that_is_off_or_missing_excludes_no_block() {
    let off = |dir: &Path| StoreConfig {
        value_index: false,
        ..settings(dir)
    };
    for (written, opened) in [(true, false), (false, true)] {
        let dir = tempfile::tempdir().unwrap();
        let config = |on: bool| {
            if on {
                settings(dir.path())
            } else {
                off(dir.path())
            }
        };
        filled(config(written)).await.close().await.unwrap();
        let store = Store::open(config(opened)).await.unwrap();
        let mean = mean_read(&store, "id");
        assert!(
            (3900..5000).contains(&mean),
            "{mean}: it reads whole row groups"
        );
        store.close().await.unwrap();
    }
}
