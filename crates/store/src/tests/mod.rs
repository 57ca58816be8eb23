//! Tests of the whole store, over its public interface. Each file has one subject.

mod backup;
mod bad_disk;
mod cancellation;
mod check;
mod clock;
mod cluster;
mod copies;
mod copies_auto;
mod copy_reads;
mod crash;
mod damage;
mod growth;
mod home;
mod ingestion_time;
mod lifecycle;
mod merges;
mod node_objects;
mod nodes;
mod objects;
mod opening;
mod postgres;
pub(crate) mod postgres_server;
mod promotion;
mod queries;
mod recover;
mod recovery;
mod reset;
mod simulation;
mod text_index;
mod unique;
mod value_index;

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryViewArray, Int64Array, StringViewArray};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use hindsight_kql_types::Dynamic;
use uuid::Uuid;

pub(crate) use self::home::Home;
use crate::clock::manual::ManualClock;
use crate::{AppId, AppendRequest, Snapshot, Store, StoreConfig, Table};

/// 2026-11-21 00:00 in ticks.
pub(crate) const START: i64 = 639_307_296_000_000_000;

pub(crate) fn app(number: u128) -> AppId {
    AppId(Uuid::from_u128(number))
}

pub(crate) fn manual_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(START))
}

/// Whether tests that take samples do all of their work: `make prove`.
pub(crate) fn proving() -> bool {
    std::env::var_os("HINDSIGHT_PROVE").is_some()
}

/// Settings under which nothing happens by itself.
pub(crate) fn quiet(dir: &Path) -> StoreConfig {
    StoreConfig {
        background: false,
        clock: manual_clock(),
        ..StoreConfig::new(dir)
    }
}

/// One item of a test: its identity, its time after [`START`] in ticks, its bags as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) at: i64,
    pub(crate) dimensions: &'static str,
    pub(crate) measurements: &'static str,
}

pub(crate) fn item(id: impl ToString, at: i64) -> Item {
    Item {
        id: id.to_string(),
        at,
        dimensions: "{}",
        measurements: "{}",
    }
}

/// A batch of requests that leaves most columns to the store.
pub(crate) fn requests(items: &[Item]) -> RecordBatch {
    let bag = |json: fn(&Item) -> &'static str| -> ArrayRef {
        let bags = items
            .iter()
            .map(|item| Dynamic::from_json(json(item)).map(|value| value.encode()));
        Arc::new(bags.collect::<BinaryViewArray>())
    };
    let ids = || -> ArrayRef {
        Arc::new(
            items
                .iter()
                .map(|item| Some(item.id.as_str()))
                .collect::<StringViewArray>(),
        )
    };
    let columns: [(&str, ArrayRef); 5] = [
        (
            "timestamp",
            Arc::new(
                items
                    .iter()
                    .map(|item| START + item.at)
                    .collect::<Int64Array>(),
            ),
        ),
        ("id", ids()),
        ("itemId", ids()),
        ("customDimensions", bag(|item| item.dimensions)),
        ("customMeasurements", bag(|item| item.measurements)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

pub(crate) async fn put(store: &Store, app: AppId, items: &[Item]) -> crate::Result<crate::Ack> {
    let batches = vec![(Table::Requests, requests(items))];
    store.append(AppendRequest { app, batches }).await
}

pub(crate) fn session() -> SessionContext {
    SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2))
}

/// The requests of an application in a snapshot, as a data frame.
pub(crate) fn frame(snapshot: &Snapshot, app: AppId) -> DataFrame {
    session()
        .read_table(Arc::new(snapshot.table(&[app], Table::Requests)))
        .unwrap()
}

/// The ids of an application's requests, sorted.
pub(crate) async fn ids(store: &Store, app: AppId) -> Vec<String> {
    ids_of(frame(&store.snapshot(), app)).await
}

pub(crate) async fn ids_of(frame: DataFrame) -> Vec<String> {
    let mut ids = ids_in_order(frame).await;
    ids.sort_unstable();
    ids
}

pub(crate) async fn ids_in_order(frame: DataFrame) -> Vec<String> {
    let batches = frame
        .select_columns(&["id"])
        .unwrap()
        .collect()
        .await
        .unwrap();
    let texts = batches
        .iter()
        .flat_map(|batch| batch.column(0).as_string_view().iter());
    texts.map(|id| id.unwrap_or("null").to_owned()).collect()
}

pub(crate) fn times(batches: &[RecordBatch]) -> Vec<i64> {
    let columns = batches
        .iter()
        .map(|batch| batch.column_by_name("timestamp").unwrap());
    columns
        .flat_map(|column| column.as_primitive::<Int64Type>().values().to_vec())
        .collect()
}

/// Copies a folder as a crash would leave it: file by file, while it is being written.
pub(crate) fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => copy_dir(&entry.path(), &target),
            // A file that went while the folder was listed is a file that went before the crash.
            _ => drop(std::fs::copy(entry.path(), target)),
        }
    }
}

/// The only file in `dir/log`, or the last of several.
pub(crate) fn last_log_file(dir: &Path) -> std::path::PathBuf {
    let mut files: Vec<_> = std::fs::read_dir(dir.join("log"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.pop().unwrap()
}
