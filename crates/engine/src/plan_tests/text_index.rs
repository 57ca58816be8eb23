//! The index of terms: every text operator finds the same rows with it as without it.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringViewArray};
use arrow::record_batch::RecordBatch;
use hindsight_kql::RandomSource;
use hindsight_store::{AppId, AppendRequest, Store, StoreConfig, Table};

use super::{START, World, bytes_read, executor};
use crate::config::EngineConfig;

/// Rows of the segment: several blocks of the index.
const ROWS: usize = 30_000;

/// Words, each in the message of one row of the segment, and of one in memory.
const WORDS: [(&str, usize); 8] = [
    ("deadlock", 9000),
    ("DEADLOCKS", 7001),
    ("dead", 11_000),
    ("snake_case", 10_007),
    ("Élan", 28_009),
    ("\u{212a}elvin", 12_000),
    ("10.20.30", 13_001),
    ("timed out after", 19_001),
];

fn message(row: usize) -> String {
    let own = |(_, place): &&(&str, usize)| row == *place || row + 50 == ROWS;
    let own: Vec<&str> = WORDS.iter().filter(own).map(|(word, _)| *word).collect();
    format!("handled order={row} {}", own.join("-"))
}

fn traces(rows: std::ops::Range<usize>) -> RecordBatch {
    let times: Int64Array = rows.clone().map(|row| START + row as i64).collect();
    let messages = StringViewArray::from_iter_values(rows.map(message));
    let columns: [(&str, ArrayRef); 2] = [
        ("timestamp", Arc::new(times)),
        ("message", Arc::new(messages)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A store with or without the index, and with a column cache of this number of bytes.
async fn world(text_index: bool, column_cache_bytes: usize) -> World {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        background: false,
        text_index,
        column_cache_bytes,
        ..StoreConfig::new(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    let app: AppId = "00000000-0000-4000-8000-000000000001".parse().unwrap();
    for rows in [0..ROWS - 100, ROWS - 100..ROWS] {
        let sealed = rows.start == 0;
        let batches = vec![(Table::Traces, traces(rows))];
        store.append(AppendRequest { app, batches }).await.unwrap();
        if sealed {
            store.seal_all().await.unwrap();
        }
    }
    let config = EngineConfig {
        partitions: 2,
        ..EngineConfig::default()
    };
    World {
        _dir: dir,
        executor: executor(&store, &config),
        store,
        app,
        random: RandomSource::seeded(7),
    }
}

#[tokio::test]
async fn remembered_rows_are_those_that_a_search_finds() {
    let (with, without) = (world(false, 1 << 24).await, world(false, 0).await);
    let (from, to) = (START + 7000, START + 12_500);
    let time = |ticks: i64| {
        let mut text = String::new();
        hindsight_kql_types::datetime::write_full(ticks, &mut text).unwrap();
        format!("datetime({text})")
    };
    let mut queries: Vec<String> = [
        "message contains 'timed out'",
        "message !contains 'order=1'",
        "message has 'deadlock' or message has 'snake'",
        "message has 'nowhere'",
        "message contains 'order=1' and message contains '7'",
        "message matches regex 'order=[0-9]*77 '",
        "not(message has 'deadlock')",
        "message in ('handled order=5 ', 'handled order=29995 ')",
        "strlen(message) > 30",
        "isempty(message)",
        "message contains 'dead' and rand() < 2",
    ]
    .map(str::to_owned)
    .into();
    queries.push(format!(
        "message contains '77' and timestamp between ({} .. {})",
        time(from),
        time(to)
    ));
    queries.push(format!(
        "message contains '78' and timestamp >= {}",
        time(START)
    ));
    for condition in queries {
        for rest in [
            "count",
            "summarize count(), min(timestamp), max(timestamp), sum(strlen(message))",
            "top 7 by timestamp desc | project timestamp, message",
            "project message, itemId | summarize count(), max(message)",
        ] {
            let query = format!("traces | where {condition} | {rest}");
            let expected = without.run(&query).await;
            for round in ["first", "second"] {
                let ran = with.run(&query).await;
                assert_eq!(
                    ran.rows(),
                    expected.rows(),
                    "{round}: {query}\n{}",
                    ran.plan
                );
            }
        }
    }
    let query = "traces | where message contains 'timed out' | count";
    let (again, searched) = (with.run(query).await, without.run(query).await);
    assert_eq!(bytes_read(&again.plan), 0.0, "{}", again.plan);
    assert!(bytes_read(&searched.plan) > 0.0, "{}", searched.plan);
}

#[tokio::test]
async fn text_operators_find_the_same_rows_with_and_without_the_index() {
    let (with, without) = (world(true, 0).await, world(false, 0).await);
    let cached = world(true, 1 << 24).await;
    let operators = [
        "has",
        "has_cs",
        "hasprefix",
        "hasprefix_cs",
        "hassuffix",
        "hassuffix_cs",
        "contains",
        "contains_cs",
        "startswith",
        "endswith",
        "=~",
        "==",
        "!has",
        "!contains",
    ];
    let searched = [
        "deadlock",
        "Dead",
        "snake",
        "élan",
        "kelvin",
        "0.20.3",
        "med out aft",
        "order=12345 ",
        "nowhere",
        "",
    ];
    let mut fewer = 0;
    for operator in operators {
        for text in searched {
            let query = format!(
                "traces | where message {operator} '{text}' | summarize count(), min(timestamp), max(timestamp), sum(strlen(message))"
            );
            let (one, other) = (with.run(&query).await, without.run(&query).await);
            assert_eq!(one.rows(), other.rows(), "{query}");
            assert_eq!(cached.run(&query).await.rows(), other.rows(), "{query}");
            fewer += usize::from(bytes_read(&one.plan) < bytes_read(&other.plan));
        }
    }
    assert!(fewer > 40, "{fewer} queries read less");
    for condition in [
        "message has 'deadlock' and message has 'snake'",
        "message has 'deadlock' or message has 'snake'",
        "message has 'deadlock' or strlen(message) > 40",
        "not(message has 'deadlock')",
        "message has_any ('nowhere', 'élan')",
        "message has_any ('nowhere', '')",
        "message has_all ('deadlock', 'handled')",
        "message has_all (dynamic([]))",
        "* has 'deadlock'",
        "message has strcat('dead', 'lock')",
        "tostring(timestamp) has '2026' and message has 'dead'",
    ] {
        let query = format!("traces | where {condition} | project timestamp, message");
        let (one, other) = (with.run(&query).await, without.run(&query).await);
        assert_eq!(one.rows(), other.rows(), "{query}");
    }
}
