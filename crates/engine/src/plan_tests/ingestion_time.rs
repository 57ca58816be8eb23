//! `ingestion_time()` over a real store: the field of stored rows that no operator shows.

use hindsight_store::INGESTION_TIME;

use super::World;

#[test]
fn the_store_has_the_field_that_the_language_reads() {
    assert_eq!(INGESTION_TIME, hindsight_kql::INGESTION_TIME);
}

#[tokio::test]
async fn rows_have_their_time_and_nothing_else_shows_it() {
    let world = World::new().await;
    for (query, expected) in [
        (
            "requests | summarize countif(ingestion_time() > datetime(2026-01-01)) | extend n = 8000",
            "| 8000     | 8000 |",
        ),
        (
            "AppRequests | extend t = ingestion_time() | where isnull(t) | count",
            "| 0     |",
        ),
        (
            "union requests, traces | where isnull(ingestion_time()) | count",
            "| 0     |",
        ),
        (
            "requests | extend t = ingestion_time() | summarize by t | summarize n = count() > 1",
            "| true |",
        ),
        (
            "requests | sample 5 | where isnotnull(ingestion_time()) | count",
            "| 5     |",
        ),
        (
            "requests | take 1 | union (AppRequests | take 1) | getschema | where ColumnName has 'ingestion' | count",
            "| 0     |",
        ),
        ("search '$IngestionTime' | count", "| 0     |"),
    ] {
        let ran = world.run(query).await;
        let rows = ran.rows();
        assert!(rows.iter().any(|row| row == expected), "{query}: {rows:?}");
    }
}

#[tokio::test]
async fn a_filter_by_it_reaches_the_scan() {
    let world = World::new().await;
    let ran = world
        .run("requests | where ingestion_time() < datetime(2000-01-01) | project name")
        .await;
    assert!(!ran.scans().is_empty(), "{}", ran.plan);
    for scan in ran.scans() {
        assert!(
            scan.contains("row_groups_pruned_statistics=12 total → 0 matched"),
            "{scan}"
        );
    }
    // A query that does not name it does not read it.
    let ran = world.run("requests | project name").await;
    assert!(!ran.scans().is_empty());
    ran.has_not(INGESTION_TIME);
}
