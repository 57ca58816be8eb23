//! The folder's lock, limits of memory, merging, retention and deletion.

use std::time::Duration;

use super::*;
use crate::{NewApplication, RetentionRule, StoreError, TICKS_PER_HOUR, holder, is_held};

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn a_second_writer_is_refused_with_the_address_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!((is_held(dir.path()), holder(dir.path())), (true, None));
    store.announce("http://127.0.0.1:4321", None).unwrap();
    assert_eq!(holder(dir.path()).unwrap().url, "http://127.0.0.1:4321");
    let refused = Store::open(quiet(dir.path()))
        .await
        .expect_err("the folder is held");
    assert!(matches!(refused, StoreError::Locked { .. }));
    assert!(
        refused.to_string().contains("http://127.0.0.1:4321"),
        "{refused}"
    );

    store.close().await.unwrap();
    assert_eq!((is_held(dir.path()), holder(dir.path())), (false, None));
    Store::open(quiet(dir.path()))
        .await
        .expect("closed is free");
}

#[tokio::test]
async fn a_folder_of_a_newer_program_is_left_untouched() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("format"), "hindsight 99\n").unwrap();
    let refused = Store::open(quiet(dir.path())).await;
    assert!(
        matches!(refused, Err(StoreError::NewerFormat { found: 99, .. })),
        "{refused:?}"
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_full_memory_refuses_until_it_is_sealed() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        hot_limit_bytes: 1,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    let refused = put(&store, app(1), &[item("b", 1)]).await;
    assert!(
        matches!(refused, Err(StoreError::Overloaded { .. })),
        "{refused:?}"
    );
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("b", 1)]).await.unwrap();
}

#[tokio::test]
async fn an_application_that_fills_memory_leaves_room_for_others() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        hot_limit_bytes: 2 << 20,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    let mut refused = None;
    for number in 0..10_000 {
        let items: Vec<_> = (0..100).map(|n| item("flood", number * 100 + n)).collect();
        if let Err(error) = put(&store, app(1), &items).await {
            refused = Some(error);
            break;
        }
    }
    assert!(
        matches!(refused, Some(StoreError::Overloaded { .. })),
        "{refused:?}"
    );
    for number in 0..20 {
        put(&store, app(2), &[item("quiet", number)]).await.unwrap();
    }
    assert!(put(&store, app(1), &[item("flood", 1)]).await.is_err());
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("flood", 1)]).await.unwrap();
}

#[tokio::test]
async fn requests_that_are_stored_at_once_leave_room_for_others() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        hot_limit_bytes: 8 << 20,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    // Each is encoded on another thread, so all begin before the first one is stored.
    let items: Vec<_> = (0..2_000).map(|number| item("flood", number)).collect();
    let flood = (0..16).map(|_| put(&store, app(1), &items));
    let refused = futures::future::join_all(flood).await;
    assert!(refused.iter().any(Result::is_ok), "{refused:?}");
    assert!(refused.iter().any(Result::is_err), "{refused:?}");
    put(&store, app(2), &[item("quiet", 1)]).await.unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &items).await.unwrap();
}

#[tokio::test]
async fn memory_is_sealed_by_age_and_by_rows() {
    for home in Home::each_place() {
        let clock = manual_clock();
        let config = StoreConfig {
            seal_rows: 3,
            clock: clock.clone(),
            ..home.quiet()
        };
        let store = Store::open(config).await.unwrap();
        assert!(!store.seal_is_due());
        put(&store, app(1), &[item("a", 1)]).await.unwrap();
        assert!(!store.seal_is_due());
        clock.pass(Duration::from_secs(301));
        assert!(store.seal_is_due(), "old");
        store.seal_all().await.unwrap();
        assert!(!store.seal_is_due());
        put(&store, app(1), &[item("b", 1), item("c", 1), item("d", 1)])
            .await
            .unwrap();
        assert!(store.seal_is_due(), "many");
    }
}

#[tokio::test]
async fn many_small_requests_become_few_chunks_and_the_log_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        log_file_bytes: 4096,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    for n in 0..100 {
        put(&store, app(1), &[item(format!("{n:03}"), n)])
            .await
            .unwrap();
    }
    let logs = || std::fs::read_dir(dir.path().join("log")).unwrap().count();
    assert!(logs() > 3);
    let chunks = store
        .view
        .get()
        .tables
        .values()
        .map(|state| state.open.list.len())
        .sum::<usize>();
    assert!(chunks < 32, "{chunks}");
    assert_eq!(ids(&store, app(1)).await.len(), 100);
    store.seal_all().await.unwrap();
    assert_eq!(logs(), 1);
}

#[tokio::test]
async fn closed_hours_and_days_are_merged_in_order_and_the_old_files_go() {
    for home in Home::each_place() {
        let clock = manual_clock();
        let config = StoreConfig {
            clock: clock.clone(),
            ..home.quiet()
        };
        let store = Store::open(config).await.unwrap();
        for round in 0..3 {
            let items: Vec<Item> = (0..4)
                .map(|n| item(format!("{round}{n}"), n * TICKS_PER_HOUR + round))
                .collect();
            put(&store, app(1), &items).await.unwrap();
            store.seal_all().await.unwrap();
        }
        let segments = || store.stats().tables[0].segments;
        assert_eq!(segments(), 12);
        assert_eq!(store.compact().await.unwrap(), 0, "no hour is closed yet");
        clock.pass(Duration::from_secs(2 * 3600 + 1800));
        assert_eq!(store.compact().await.unwrap(), 2);
        assert_eq!(segments(), 2 + 6);

        let running = store.snapshot();
        clock.pass(2 * DAY);
        store.compact().await.unwrap();
        assert_eq!(segments(), 1);
        let files = || {
            let folder = home.segments().join(app(1).to_string()).join("requests");
            std::fs::read_dir(folder).unwrap().count()
        };
        assert!(files() > 1, "a query may still read the old files");
        assert_eq!(frame(&running, app(1)).count().await.unwrap(), 12);
        drop(running);
        assert_eq!(files(), 1);
        let times = times(&frame(&store.snapshot(), app(1)).collect().await.unwrap());
        assert!(
            times.is_sorted_by(|a, b| a >= b) && times.len() == 12,
            "{times:?}"
        );
    }
}

#[tokio::test]
async fn small_hours_share_a_segment_and_are_merged_before_their_day_closes() {
    for home in Home::each_place() {
        let clock = manual_clock();
        let config = StoreConfig {
            clock: clock.clone(),
            compaction_fan_in: 3,
            ..home.quiet()
        };
        let store = Store::open(config).await.unwrap();
        let segments = || store.stats().tables[0].segments;
        for round in 0..3 {
            assert_eq!(segments_if_any(&store), 2 * round);
            assert_eq!(store.compact().await.unwrap(), 0, "too few for one merge");
            let live = (0..20).map(|n| item(format!("live-{round}-{n}"), 10 * TICKS_PER_HOUR + n));
            let late =
                (1..4).map(|hour| item(format!("late-{round}-{hour}"), hour * TICKS_PER_HOUR));
            let items: Vec<Item> = live.chain(late).collect();
            put(&store, app(1), &items).await.unwrap();
            store.seal_all().await.unwrap();
        }
        assert_eq!(segments(), 6);
        assert_eq!(store.compact().await.unwrap(), 1);
        assert_eq!(segments(), 3 + 1);
        assert_eq!(ids(&store, app(1)).await.len(), 3 * 23);
        clock.pass(2 * DAY);
        store.compact().await.unwrap();
        assert_eq!(segments(), 1);
        assert_eq!(ids(&store, app(1)).await.len(), 3 * 23);
    }
}

#[tokio::test]
async fn days_that_are_being_loaded_are_merged_once_they_are_whole_or_of_many_segments() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        compaction_interval: Duration::from_secs(60),
        compaction_fan_in: 4,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    clock.pass(2 * DAY);
    let load = async |round: i64| {
        let items = (0..20).map(|n| item(format!("{round}-{n}"), n * TICKS_PER_HOUR / 2 + round));
        let items: Vec<Item> = items.collect();
        put(&store, app(1), &items).await.unwrap();
        store.seal_all().await.unwrap();
    };
    let segments = || segments_if_any(&store);
    for round in 0..2 {
        load(round).await;
        clock.pass(Duration::from_secs(60));
        assert_eq!(store.compact_settled().await.unwrap(), 0, "{round}");
    }
    assert_eq!(segments(), 2);
    clock.pass(Duration::from_secs(4 * 60));
    assert_eq!(
        store.compact_settled().await.unwrap(),
        0,
        "the last is young"
    );
    clock.pass(Duration::from_secs(60));
    assert_eq!(store.compact_settled().await.unwrap(), 1);
    assert_eq!(segments(), 1);
    for round in 2..5 {
        assert_eq!(store.compact_settled().await.unwrap(), 0, "{round}");
        load(round).await;
    }
    assert_eq!(segments(), 4);
    assert_eq!(store.compact_settled().await.unwrap(), 1);
    assert_eq!(segments(), 1);
    assert_eq!(ids(&store, app(1)).await.len(), 5 * 20);
}

fn segments_if_any(store: &Store) -> u64 {
    store
        .stats()
        .tables
        .first()
        .map_or(0, |table| table.segments)
}

#[tokio::test]
async fn old_segments_expire() {
    for home in Home::each_place() {
        let clock = manual_clock();
        let config = StoreConfig {
            clock: clock.clone(),
            ..home.quiet()
        };
        let store = Store::open(config).await.unwrap();
        assert_eq!(store.expire().await.unwrap(), 0);
        put(&store, app(1), &[item("old", 0)]).await.unwrap();
        put(
            &store,
            app(1),
            &[
                item("new", 10 * 24 * TICKS_PER_HOUR),
                item("newer", 11 * 24 * TICKS_PER_HOUR),
            ],
        )
        .await
        .unwrap();
        store.seal_all().await.unwrap();
        clock.pass(DAY * 89);
        assert_eq!(store.expire().await.unwrap(), 0);
        clock.pass(DAY * 2);
        assert_eq!(store.expire().await.unwrap(), 1);
        assert_eq!(ids(&store, app(1)).await, ["new", "newer"]);
    }
}

#[tokio::test]
async fn bytes_bound_an_application_too() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        retention_bytes: Some(1),
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    put(&store, app(1), &[item("a", 0)]).await.unwrap();
    store.seal_all().await.unwrap();
    assert_eq!(store.expire().await.unwrap(), 1);
    assert_eq!(ids(&store, app(1)).await, Vec::<String>::new());
}

#[tokio::test]
async fn retention_seals_the_memtable_only_where_it_holds_old_items() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    let later = |id: &str, days: i64| item(id, days * 24 * TICKS_PER_HOUR);
    put(&store, app(1), &[later("new", 10), later("newer", 11)])
        .await
        .unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("old", 0)]).await.unwrap();
    clock.pass(DAY * 89);
    assert_eq!(store.expire_with_memory().await.unwrap(), 0);
    assert_eq!(segments_if_any(&store), 2, "nothing was sealed");
    clock.pass(DAY * 2);
    assert_eq!(store.expire_with_memory().await.unwrap(), 1);
    assert_eq!(ids(&store, app(1)).await, ["new", "newer"]);
}

#[tokio::test]
async fn the_background_task_expires_segments() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        background: true,
        retention_bytes: Some(1),
        retention_interval: Duration::ZERO,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    put(&store, app(1), &[item("a", 0)]).await.unwrap();
    store.seal_all().await.unwrap();
    let expired = async {
        while !ids(&store, app(1)).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), expired)
        .await
        .expect("the segment expires");
}

/// A store with one application, and an item of each day in its tables of requests and traces.
async fn of_two_tables(config: StoreConfig, days: i64) -> Arc<Store> {
    let store = Store::open(config).await.unwrap();
    let new = NewApplication {
        id: app(1),
        name: "shop".to_owned(),
        instrumentation_key: Uuid::from_u128(1),
        created: START,
    };
    store.catalogue().create_app(new).await.unwrap();
    for day in 0..days {
        let rows = requests(&[item(day, day * 24 * TICKS_PER_HOUR)]);
        let columns = ["timestamp", "itemId"].map(|name| rows.schema().index_of(name).unwrap());
        let traces = rows.project(&columns).unwrap();
        let batches = vec![(Table::Requests, rows), (Table::Traces, traces)];
        let request = AppendRequest {
            app: app(1),
            batches,
        };
        store.append(request).await.unwrap();
    }
    store.seal_all().await.unwrap();
    store
}

/// Rows of requests and of traces.
fn rows(store: &Store) -> [u64; 2] {
    let stats = store.stats();
    [Table::Requests, Table::Traces].map(|table| {
        let tables = stats.tables.iter().filter(|held| held.table == table);
        tables.map(crate::TableStats::rows).sum()
    })
}

#[tokio::test]
async fn a_table_keeps_its_items_as_long_as_its_rule_says() {
    for home in Home::each_place() {
        let clock = manual_clock();
        let config = StoreConfig {
            clock: clock.clone(),
            retention_guard: 1.0,
            ..home.quiet()
        };
        let store = of_two_tables(config, 10).await;
        let rule = |table, days, max_bytes| RetentionRule {
            app: app(1),
            table,
            days,
            max_bytes,
        };
        clock.pass(DAY * 9);
        assert_eq!(store.expire().await.unwrap(), 0);
        let set = async |rule: RetentionRule| {
            store.catalogue().set_retention_rule(&rule).await.unwrap();
            store.expire().await.unwrap();
            rows(&store)
        };
        assert_eq!(set(rule(Some(Table::Traces), Some(7), None)).await, [10, 8]);
        assert_eq!(
            set(rule(None, Some(5), None)).await,
            [6, 8],
            "the rule of a table goes first"
        );
        assert_eq!(set(rule(Some(Table::Traces), None, None)).await, [6, 6]);
        let (count, _) = store.catalogue().expired_size().await.unwrap();
        assert_eq!(count, 8, "expired segments are kept for a while");
        assert_eq!(store.catalogue().restore_expired().await.unwrap(), 8);
    }
}

#[tokio::test]
async fn a_table_and_an_application_have_as_many_bytes_as_their_rules_say() {
    let dir = tempfile::tempdir().unwrap();
    let store = of_two_tables(quiet(dir.path()), 6).await;
    let bytes = |table: Table| {
        let stats = store.stats();
        let held = stats.tables.iter().find(|held| held.table == table);
        held.map_or(0, |held| held.sealed_bytes)
    };
    let trace = bytes(Table::Traces) / 6;
    let rule = |table, max_bytes| RetentionRule {
        app: app(1),
        table,
        days: None,
        max_bytes: Some(max_bytes),
    };
    let set = async |rule: RetentionRule| {
        store.catalogue().set_retention_rule(&rule).await.unwrap();
        store.expire().await.unwrap();
        rows(&store)
    };
    let half = trace * 7 / 2;
    assert_eq!(set(rule(Some(Table::Traces), half)).await, [6, 3]);
    assert_eq!(ids(&store, app(1)).await.len(), 6);
    let all = bytes(Table::Requests) / 6 * 2 + bytes(Table::Traces);
    let left = set(rule(None, all)).await;
    assert!(left[0] <= 3 && left[1] <= 3 && left != [0, 0], "{left:?}");
    assert!(bytes(Table::Requests) + bytes(Table::Traces) <= all);
    assert!(
        ids(&store, app(1)).await.contains(&"5".to_owned()),
        "the newest stay"
    );
}

#[tokio::test]
async fn a_deleted_application_loses_its_data_and_others_keep_theirs() {
    for home in Home::each_place() {
        let store = Store::open(home.quiet()).await.unwrap();
        for number in [1, 2] {
            let new = NewApplication {
                id: app(number),
                name: number.to_string(),
                instrumentation_key: Uuid::from_u128(number),
                created: START,
            };
            store.catalogue().create_app(new).await.unwrap();
            put(&store, app(number), &[item("sealed", 1)])
                .await
                .unwrap();
        }
        store.seal_all().await.unwrap();
        put(&store, app(1), &[item("hot", 1)]).await.unwrap();
        store.catalogue().delete_app(app(1), START).await.unwrap();
        assert_eq!(store.purge_deleted().await.unwrap(), 1);
        assert_eq!(ids(&store, app(1)).await, Vec::<String>::new());
        drop(store);

        let store = Store::open(home.quiet()).await.unwrap();
        assert_eq!(
            ids(&store, app(1)).await,
            Vec::<String>::new(),
            "the log does not bring it back"
        );
        assert_eq!(ids(&store, app(2)).await, ["sealed"]);
    }
}
