//! What queries see, and what they read for it.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{DataFrame, col, lit};

use super::*;
use crate::{StoreError, TICKS_PER_HOUR};

#[tokio::test]
async fn an_application_never_sees_anothers_items() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    put(&store, app(2), &[item("b", 1)]).await.unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("c", 1)]).await.unwrap();
    put(&store, app(2), &[item("d", 1)]).await.unwrap();

    assert_eq!(ids(&store, app(1)).await, ["a", "c"]);
    assert_eq!(ids(&store, app(2)).await, ["b", "d"]);
    assert_eq!(ids(&store, app(3)).await, Vec::<String>::new());
    let both = session()
        .read_table(store.table(&[app(2), app(1), app(2)], Table::Requests))
        .unwrap();
    assert_eq!(ids_of(both).await, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn a_snapshot_does_not_change() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    let before = store.snapshot();
    put(&store, app(1), &[item("b", 1)]).await.unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("c", 1)]).await.unwrap();
    assert_eq!(ids_of(frame(&before, app(1))).await, ["a"]);
    assert_eq!(ids(&store, app(1)).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn counts_stay_constant_while_memory_is_sealed_and_segments_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    clock.pass(std::time::Duration::from_secs(4 * 86_400));
    let changing = {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..8 {
                store.seal_all().await.unwrap();
                store.compact().await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    };
    for round in 0..40 {
        let items: Vec<Item> = (0..5)
            .map(|n| item(format!("{round}-{n}"), n * TICKS_PER_HOUR / 2))
            .collect();
        put(&store, app(1), &items).await.unwrap();
        let count = frame(&store.snapshot(), app(1)).count().await.unwrap();
        assert_eq!(count, (round + 1) * 5, "round {round}");
    }
    changing.await.unwrap();
    store.seal_all().await.unwrap();
    store.compact().await.unwrap();
    assert_eq!(store.stats().tables[0].segments, 1);
    let seen = ids(&store, app(1)).await;
    let mut unique = seen.clone();
    unique.dedup();
    assert_eq!((seen.len(), unique.len()), (200, 200));
}

#[tokio::test]
async fn every_column_has_its_table_type_from_memory_and_from_segments() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    for place in ["memory", "segment"] {
        let batches = frame(&store.snapshot(), app(1)).collect().await.unwrap();
        assert_eq!(
            batches[0].schema().fields(),
            Table::Requests.stored_schema().fields(),
            "{place}"
        );
        let name = batches[0].column_by_name("name").unwrap();
        assert_eq!(
            (name.null_count(), name.as_string_view().value(0)),
            (0, ""),
            "absent text in {place}"
        );
        assert_eq!(
            batches[0].column_by_name("duration").unwrap().null_count(),
            1,
            "absent number in {place}"
        );
        store.seal_all().await.unwrap();
    }
}

#[tokio::test]
async fn a_batch_that_does_not_fit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let text: ArrayRef = Arc::new(StringViewArray::from(vec!["x"]));
    let time: ArrayRef = Arc::new(Int64Array::from(vec![START]));
    let no_time: ArrayRef = Arc::new(Int64Array::from(vec![None]));
    for (columns, expected) in [
        (
            vec![("timestamp", time.clone()), ("nothing", text.clone())],
            "no column 'nothing'",
        ),
        (
            vec![("timestamp", time.clone()), ("name", time)],
            "column 'name' is Int64",
        ),
        (vec![("timestamp", no_time)], "timestamp"),
        (vec![("name", text)], "timestamp"),
    ] {
        let batches = vec![(
            Table::Requests,
            RecordBatch::try_from_iter(columns).unwrap(),
        )];
        match store
            .append(AppendRequest {
                app: app(1),
                batches,
            })
            .await
        {
            Err(StoreError::BadBatch { what, .. }) => assert!(what.contains(expected), "{what}"),
            other => panic!("expected a refusal because of {expected}, found {other:?}"),
        }
    }
    assert_eq!(store.stats().rows(), 0);
}

#[tokio::test]
async fn the_newest_come_first_without_reading_everything() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let items: Vec<Item> = (0..48).map(|n| item(n, n * TICKS_PER_HOUR / 2)).collect();
    for of_hour in items.chunks(2) {
        put(&store, app(1), of_hour).await.unwrap();
        store.seal_all().await.unwrap();
    }
    assert_eq!(store.stats().tables[0].segments, 24);
    let newest = || {
        let sorted = frame(&store.snapshot(), app(1))
            .sort(vec![col("timestamp").sort(false, false)])
            .unwrap();
        sorted.limit(0, Some(3)).unwrap()
    };
    let plan = newest().create_physical_plan().await.unwrap();
    let plan = datafusion::physical_plan::displayable(plan.as_ref())
        .indent(true)
        .to_string();
    assert_eq!(ids_in_order(newest()).await, ["47", "46", "45"], "{plan}");
    put(&store, app(1), &[item("hot", 46 * TICKS_PER_HOUR / 2 + 1)])
        .await
        .unwrap();
    assert_eq!(ids_in_order(newest()).await, ["47", "hot", "46"]);
}

#[tokio::test]
async fn time_decides_which_segments_are_opened() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    for hour in 0..24 {
        let item = item(hour, hour * TICKS_PER_HOUR);
        put(&store, app(1), &[item]).await.unwrap();
        store.seal_all().await.unwrap();
    }
    let after = |hour: i64| col("timestamp").gt_eq(lit(START + hour * TICKS_PER_HOUR));
    let table = store.snapshot().table(&[app(1)], Table::Requests);
    assert_eq!(table.segments_in(&[]), 24);
    assert_eq!(table.segments_in(&[after(20)]), 4);
    let late = frame(&store.snapshot(), app(1)).filter(after(22)).unwrap();
    assert_eq!(ids_of(late).await, ["22", "23"]);
}

/// The rows with an id, and a figure of the scan that looked for them.
async fn look_up(store: &Store, id: &str, figure: &str) -> (usize, Vec<String>) {
    let found = frame(&store.snapshot(), app(1))
        .filter(col("id").eq(lit(id)))
        .unwrap();
    let plan = found.create_physical_plan().await.unwrap();
    let rows = collect(plan.clone(), session().task_ctx()).await.unwrap();
    let rows: usize = rows.iter().map(RecordBatch::num_rows).sum();
    (rows, metric(plan.as_ref(), figure))
}

/// A store with one segment. The range of its ids is wide, so that smallest and largest value answer no lookup.
async fn store_of_ids(dir: &Path, column_cache_bytes: usize) -> Arc<Store> {
    let config = StoreConfig {
        column_cache_bytes,
        ..quiet(dir)
    };
    let store = Store::open(config).await.unwrap();
    let items: Vec<Item> = (0..2000)
        .map(|n| item(format!("{:05}", n * 7), n))
        .collect();
    put(&store, app(1), &items).await.unwrap();
    store.seal_all().await.unwrap();
    store
}

#[tokio::test]
async fn a_missing_id_is_answered_by_bloom_filters() {
    let dir = tempfile::tempdir().unwrap();
    let store = store_of_ids(dir.path(), 0).await;
    let pruned = |id: &'static str| {
        let store = store.clone();
        async move {
            let found = frame(&store.snapshot(), app(1))
                .filter(col("id").eq(lit(id)))
                .unwrap();
            let plan = found.create_physical_plan().await.unwrap();
            let rows = collect(plan.clone(), session().task_ctx()).await.unwrap();
            let rows: usize = rows.iter().map(RecordBatch::num_rows).sum();
            let files = datafusion::physical_plan::displayable(plan.as_ref());
            let files = files.indent(true).to_string().matches("file_type=").count();
            (rows, files)
        }
    };
    assert_eq!(pruned("00070").await, (1, 1));
    assert_eq!(pruned("00071").await, (0, 0), "no file is read");
}

#[tokio::test]
async fn look_ups_read_the_file_only_where_it_may_have_the_value() {
    let dir = tempfile::tempdir().unwrap();
    let store = store_of_ids(dir.path(), 1 << 20).await;
    let read = "bytes_scanned";
    let (rows, bytes) = look_up(&store, "00070", read).await;
    assert!(rows == 1 && !bytes.is_empty(), "{rows} {bytes:?}");
    let (rows, bytes) = look_up(&store, "00071", read).await;
    assert!(rows == 0 && bytes.is_empty(), "{rows} {bytes:?}");
    let (rows, bytes) = look_up(&store, "00077", read).await;
    assert!(rows == 1 && !bytes.is_empty(), "{rows} {bytes:?}");
}

/// Planning groups and joins large tables otherwise than small ones.
#[tokio::test]
async fn scans_tell_about_how_many_rows_they_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let items = |hour: i64, count: i64| -> Vec<Item> {
        (0..count)
            .map(|n| item(n, hour * TICKS_PER_HOUR + n))
            .collect()
    };
    put(&store, app(1), &items(0, 300)).await.unwrap();
    put(&store, app(1), &items(1, 50)).await.unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &items(2, 7)).await.unwrap();
    let all = frame(&store.snapshot(), app(1));
    assert_eq!(rows_of_leaves(all.clone()).await, [7, 350]);
    let late = all
        .clone()
        .filter(col("timestamp").gt_eq(lit(START + TICKS_PER_HOUR)));
    assert_eq!(rows_of_leaves(late.unwrap()).await, [7, 50]);
    let of_one = all.filter(col("id").eq(lit("3")));
    assert_eq!(rows_of_leaves(of_one.unwrap()).await, [7, 350]);
}

/// What the leaves of a query's plan tell of their rows, the smallest first.
async fn rows_of_leaves(query: DataFrame) -> Vec<usize> {
    let plan = query.create_physical_plan().await.unwrap();
    let mut rows = Vec::new();
    plan.apply(|node| {
        if node.children().is_empty() {
            let known = StatisticsContext::new().compute(node.as_ref(), &StatisticsArgs::new())?;
            rows.extend(known.num_rows.get_value());
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .unwrap();
    rows.sort_unstable();
    rows
}

/// The values of a metric in a plan, as text.
fn metric(plan: &dyn ExecutionPlan, name: &str) -> Vec<String> {
    let own = plan
        .metrics()
        .into_iter()
        .flat_map(|set| set.iter().cloned().collect::<Vec<_>>());
    let mut values: Vec<String> = own
        .filter(|metric| metric.value().name() == name)
        .map(|metric| metric.value().to_string())
        .collect();
    for child in plan.children() {
        values.extend(metric(child.as_ref(), name));
    }
    values
}
