//! The time at which rows were received: it survives log, seal and merge, and is null in files of before it existed.

use std::path::PathBuf;
use std::time::Duration;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;

use super::*;
use crate::{INGESTION_TIME, Recovery, TICKS_PER_HOUR, TICKS_PER_SECOND, recover};

/// Ids with their times of ingestion in seconds after [`START`].
async fn received(store: &Store) -> Vec<(String, Option<i64>)> {
    let frame = frame(&store.snapshot(), app(1));
    let batches = frame.collect().await.unwrap();
    let mut rows = Vec::new();
    for batch in &batches {
        let ids = batch.column_by_name("id").unwrap().as_string_view();
        let times = batch.column_by_name(INGESTION_TIME).unwrap();
        let times = times.as_primitive::<Int64Type>().iter();
        let seconds = times.map(|time| time.map(|time| (time - START) / TICKS_PER_SECOND));
        rows.extend(ids.iter().map(|id| id.unwrap().to_owned()).zip(seconds));
    }
    rows.sort_unstable();
    rows
}

fn due(rows: &[(&str, Option<i64>)]) -> Vec<(String, Option<i64>)> {
    let rows = rows.iter();
    rows.map(|(id, time)| ((*id).to_owned(), *time)).collect()
}

#[tokio::test]
async fn the_clock_sets_it_and_log_seal_and_merge_keep_it() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        ..quiet(dir.path())
    };
    let store = Store::open(config.clone()).await.unwrap();
    let second = Duration::from_secs(1);
    for id in ["a", "b"] {
        clock.pass(second);
        put(&store, app(1), &[item(id, 5)]).await.unwrap();
        store.seal_all().await.unwrap();
    }
    clock.pass(second);
    put(&store, app(1), &[item("c", 1), item("d", 2)])
        .await
        .unwrap();
    let rows = due(&[
        ("a", Some(1)),
        ("b", Some(2)),
        ("c", Some(3)),
        ("d", Some(3)),
    ]);
    assert_eq!(received(&store).await, rows, "memory and segments");
    drop(store);

    let copy = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), copy.path());
    clock.pass(Duration::from_secs(2 * 3600 * 24));
    let config = StoreConfig {
        data_dir: copy.path().to_owned(),
        ..config
    };
    let store = Store::open(config).await.unwrap();
    assert_eq!(received(&store).await, rows, "the log");
    store.seal_all().await.unwrap();
    assert!(store.compact().await.unwrap() > 0);
    assert_eq!(received(&store).await, rows, "a merged segment");
}

/// Writes the segment `path` anew as versions before the field did; returns the new path.
fn without_field(path: PathBuf) -> PathBuf {
    let file = std::fs::File::open(&path).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let metadata = builder.metadata().file_metadata().key_value_metadata();
    let own = |entry: &&parquet::file::metadata::KeyValue| entry.key.starts_with("hindsight.");
    let metadata: Vec<_> = metadata.unwrap().iter().filter(own).cloned().collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(metadata));
    let batches = builder.build().unwrap().map(|batch| {
        let mut batch = batch.unwrap();
        batch.remove_column(batch.schema().index_of(INGESTION_TIME).unwrap());
        batch
    });
    let batches: Vec<RecordBatch> = batches.collect();
    let schema = batches[0].schema();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties.build())).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
    }
    let bytes = writer.into_inner().unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let (stem, _) = name.rsplit_once('-').unwrap();
    let name = format!("{stem}-{:08x}.parquet", crc32c::crc32c(&bytes));
    let new = path.with_file_name(name);
    std::fs::write(&new, bytes).unwrap();
    std::fs::remove_file(path).unwrap();
    new
}

#[tokio::test]
async fn rows_of_segments_of_before_have_none() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("old", 1)]).await.unwrap();
    store.close().await.unwrap();
    let folder = dir.path().join(format!("segments/{}/requests", app(1)));
    for entry in std::fs::read_dir(folder).unwrap() {
        without_field(entry.unwrap().path());
    }
    // A lost catalogue is rebuilt from the files, so the new file is known.
    for name in ["catalogue.db", "catalogue.db-wal", "catalogue.db-shm"] {
        let _ = std::fs::remove_file(dir.path().join(name));
    }
    let doubts = match recover(dir.path(), &[], START, Arc::new(())).await.unwrap() {
        Recovery::Done(_) => Vec::new(),
        Recovery::Refused(doubts) => doubts.kinds(),
    };
    if !doubts.is_empty() {
        let done = recover(dir.path(), &doubts, START, Arc::new(())).await;
        assert!(matches!(done.unwrap(), Recovery::Done(_)));
    }

    let clock = manual_clock();
    clock.pass(Duration::from_secs(2 * 3600 * 24));
    let config = StoreConfig {
        clock,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    assert_eq!(received(&store).await, due(&[("old", None)]));
    let filter = datafusion::logical_expr::col(format!("\"{INGESTION_TIME}\"")).is_null();
    let frame = frame(&store.snapshot(), app(1)).filter(filter).unwrap();
    assert_eq!(frame.count().await.unwrap(), 1);

    put(&store, app(1), &[item("new", 2)]).await.unwrap();
    let now = Some(2 * 24 * TICKS_PER_HOUR / TICKS_PER_SECOND);
    let rows = due(&[("new", now), ("old", None)]);
    assert_eq!(received(&store).await, rows);
    store.seal_all().await.unwrap();
    assert!(store.compact().await.unwrap() > 0);
    assert_eq!(received(&store).await, rows, "a merged segment");
}

#[tokio::test]
async fn a_request_cannot_set_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let time: ArrayRef = Arc::new(Int64Array::from(vec![START]));
    let columns = [("timestamp", time.clone()), (INGESTION_TIME, time)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let request = AppendRequest {
        app: app(1),
        batches: vec![(Table::Requests, batch)],
    };
    let refused = store.append(request).await.unwrap_err().to_string();
    assert!(refused.contains("no column '$IngestionTime'"), "{refused}");
}
