//! A store with a few rows in several segments and in memory.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewArray, Float64Array, Int64Array, StringViewArray};
use arrow::record_batch::RecordBatch;
use datafusion::execution::context::SessionContext;
use datafusion::execution::memory_pool::UnboundedMemoryPool;
use hindsight_kql_types::Dynamic as Value;
use hindsight_kql_types::ScalarType::{DateTime, Dynamic, Long, Real, String as Text};
use hindsight_kql_types::ticks::TICKS_PER_HOUR;
use hindsight_store::{AppId, AppendRequest, Store, StoreConfig, SystemClock, Table};

use super::query::{Source, column};
use crate::catalog::StoreCatalog;
use crate::config::EngineConfig;
use crate::distributed::plan_codec;
use crate::distributed::testing::{Behaviour, Others};
use crate::exec::Executor;
use crate::request::Access;

/// 2026-11-20T00:00:00Z.
const START: i64 = 639_306_432_000_000_000;
/// Rows of one segment.
const ROWS: usize = 12;

pub(super) struct World {
    _dir: tempfile::TempDir,
    store: Arc<Store>,
    app: AppId,
}

impl World {
    pub(super) async fn new() -> World {
        let dir = tempfile::tempdir().expect("a folder");
        let config = StoreConfig {
            background: false,
            row_group_rows: 5,
            ..StoreConfig::new(dir.path())
        };
        let store = Store::open(config).await.expect("a store");
        let app: AppId = "00000000-0000-4000-8000-000000000001"
            .parse()
            .expect("an id");
        for hour in 0..3 {
            if hour > 0 {
                store.seal_all().await.expect("sealed");
            }
            let batches = vec![(Table::Requests, items(hour))];
            store
                .append(AppendRequest { app, batches })
                .await
                .expect("stored");
        }
        World {
            _dir: dir,
            store,
            app,
        }
    }

    /// A session whose plans run at three nodes, as far as they can.
    pub(super) fn distributed(&self) -> (SessionContext, Arc<Others>) {
        let config = EngineConfig {
            partitions: 2,
            ..EngineConfig::default()
        };
        let executor = || {
            let codec = plan_codec(Arc::clone(&self.store));
            Executor::new(&config, Arc::new(SystemClock::default()), codec).expect("an executor")
        };
        let others = Others::new(executor(), Behaviour::Healthy);
        let distribution = Others::distribution(&others, &self.store, 0);
        let pool = Arc::new(UnboundedMemoryPool::default());
        let context = executor().context(pool, Some(distribution));
        (context.expect("a session"), others)
    }

    pub(super) fn catalog(&self) -> StoreCatalog {
        StoreCatalog::new(
            self.store.snapshot(),
            vec![self.app],
            Arc::default(),
            Access::All,
        )
    }
}

/// The rows as queries read them. Keys of bags are columns of segments, so the bags are read by their keys.
pub(super) fn source() -> Source {
    Source {
        name: "requests\n| project timestamp, name, duration, resultCode, customDimensions, customMeasurements, \
            size = customDimensions.size, region = tostring(customDimensions.region), \
            note = customDimensions['note'], items = toreal(customMeasurements.items)"
            .to_owned(),
        columns: vec![
            column("timestamp", DateTime),
            column("name", Text),
            column("duration", Real),
            column("resultCode", Text),
            column("customDimensions.region", Dynamic),
            column("customDimensions.size", Dynamic),
            column("tostring(customDimensions.size)", Text),
            column("todouble(customDimensions.size)", Real),
            column("customMeasurements.items", Dynamic),
            column("size", Dynamic),
            column("region", Text),
            column("note", Dynamic),
            column("items", Real),
        ],
    }
}

/// Aggregations of the rows, for joins and unions. A key has the name of the column that it is computed from.
pub(super) fn aggregated() -> Source {
    Source {
        name: "requests\n| summarize k = count(), longest = max(duration) by timestamp = bin(timestamp, 30m), s = name"
            .to_owned(),
        columns: vec![
            column("timestamp", DateTime),
            column("s", Text),
            column("k", Long),
            column("longest", Real),
        ],
    }
}

fn items(hour: usize) -> RecordBatch {
    let rows = 0..ROWS;
    let text = |f: &dyn Fn(usize) -> String| -> ArrayRef {
        Arc::new(StringViewArray::from_iter_values((0..ROWS).map(f)))
    };
    let bags = |f: &dyn Fn(usize) -> Option<&'static str>| -> ArrayRef {
        let bags = (0..ROWS).map(|row| f(row).and_then(Value::from_json).map(|v| v.encode()));
        Arc::new(bags.collect::<BinaryViewArray>())
    };
    let times = rows
        .clone()
        .map(|row| START + (hour * ROWS + row) as i64 * TICKS_PER_HOUR / 4);
    let durations = rows.map(|row| (row % 4 != 3).then_some(row as f64 / 2.0));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("timestamp", Arc::new(times.collect::<Int64Array>())),
        ("itemId", text(&|row| format!("{hour}-{row}"))),
        ("name", text(&|row| ["GET /", "a", ""][row % 3].to_owned())),
        (
            "resultCode",
            text(&|row| ["200", "500"][row % 2].to_owned()),
        ),
        ("duration", Arc::new(durations.collect::<Float64Array>())),
        ("customDimensions", bags(&|row| dimensions(hour, row))),
        ("customMeasurements", bags(&measurements)),
    ];
    RecordBatch::try_from_iter(columns).expect("the columns fit")
}

/// In the second hour some values are no texts, so that hour's segment does not promote those keys.
fn dimensions(hour: usize, row: usize) -> Option<&'static str> {
    [
        Some(r#"{"size":"1","region":"a"}"#),
        Some(r#"{"size":"2","region":""}"#),
        Some(r#"{"region":"b c","note":"x"}"#),
        if hour == 1 {
            Some(r#"{"size":3,"region":null}"#)
        } else {
            Some(r#"{"size":"3"}"#)
        },
        None,
        if hour == 1 {
            Some(r#"{"note":{"p":1},"region":true}"#)
        } else {
            Some("{}")
        },
    ][row % 6]
}

fn measurements(row: usize) -> Option<&'static str> {
    [
        Some(r#"{"items":1.5}"#),
        Some(r#"{"items":2}"#),
        None,
        Some(r#"{"items":"4"}"#),
        Some("{}"),
    ][row % 5]
}
