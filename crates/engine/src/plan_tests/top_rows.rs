//! The bounds of sorts that return their first rows only: the same answers with and without them.

use super::{World, minute};
use crate::EngineConfig;

fn without_bounds() -> EngineConfig {
    EngineConfig {
        top_rows: false,
        ..EngineConfig::default()
    }
}

/// Sorts of which the first rows are returned. Their keys are distinct, so that each has one answer.
fn queries() -> Vec<String> {
    let (from, to) = (minute(50), minute(95));
    let mut queries: Vec<String> = [
        "requests | top 7 by timestamp desc",
        "requests | top 7 by timestamp asc | project itemId, customDimensions",
        "requests | top 4000 by timestamp desc | summarize count(), min(timestamp)",
        "requests | top 100000 by timestamp desc | summarize count(), min(timestamp)",
        "requests | sort by duration desc, itemId asc | take 9 | project duration, itemId, url",
        "requests | sort by duration asc, itemId desc | take 300",
        "requests | sort by duration desc nulls first, itemId asc | take 9 | project duration, itemId, operation_Id",
        "requests | extend d = iff(duration > 45, real(nan), duration) | sort by d desc, itemId asc | take 9 | project d, itemId",
        "requests | extend w = todouble(customMeasurements.weight) | sort by w desc, itemId asc | take 9 | project w, itemId",
        "requests | extend w = todouble(customMeasurements.items) | sort by w asc nulls last, itemId asc | take 9 | project w, itemId",
        "requests | sort by itemCount desc, itemId asc | take 12",
        "requests | sort by name asc, itemId asc | take 12",
        "requests | sort by tolong(duration) desc, itemId asc | take 12",
        "requests | sort by bin(timestamp, 1h) desc, itemId asc | take 12",
        "requests | where success == 'False' | top 5 by timestamp desc",
        "requests | where user_Id == 'user-7' | top 5 by timestamp asc | project timestamp, name",
        "requests | where user_Id == 'nobody' | top 5 by timestamp desc",
        "requests | where duration < 10 and operation_Id endswith '7' | sort by duration desc, itemId asc | take 5",
        "requests | where operation_Id == 'op-2-1999' | top 5 by timestamp desc",
        "requests | where customDimensions.tenantId == 'tenant-3' | top 9 by timestamp desc | project itemId, customDimensions",
        "requests | where rand() < 2 | top 5 by timestamp desc",
        "requests | project duration, other = itemId | sort by duration desc, other asc | take 5",
        "requests | extend t = timestamp | top 5 by t desc | project itemId",
        "union requests, dependencies | sort by timestamp desc, itemId asc | take 9 | project timestamp, itemId",
        "traces | where message has 'deadlock' | top 5 by timestamp desc | project timestamp, message",
        "requests | top 50 by timestamp desc | summarize count() by name",
        "requests | top 50 by timestamp desc | top 3 by timestamp asc | project itemId",
        "requests | top 50 by timestamp desc | join kind=inner (dependencies | sort by duration desc, itemId asc | take 900) on operation_Id | count",
        "let t = toscalar(requests | top 1 by timestamp desc | project timestamp); dependencies | where timestamp == t | count",
        "requests | partition hint.strategy=native by name (top 2 by timestamp desc) | project itemId",
        "requests | summarize arg_max(timestamp, itemId) by name | top 3 by timestamp desc",
    ]
    .map(str::to_owned)
    .into();
    queries.push(format!(
        "requests | where timestamp between ({from} .. {to}) | top 9 by timestamp desc"
    ));
    queries.push(format!(
        "requests | where timestamp < {to} | sort by duration desc, itemId asc | take 9"
    ));
    queries
}

async fn answers_are_equal(bytes: usize) {
    let (with, without) = (
        World::with(bytes, EngineConfig::default()).await,
        World::with(bytes, without_bounds()).await,
    );
    for query in queries() {
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

#[tokio::test]
async fn bounds_change_no_answer() {
    answers_are_equal(64 << 20).await;
}

#[tokio::test]
async fn bounds_over_evicted_columns_change_no_answer() {
    answers_are_equal(60_000).await;
}

/// All segments are left to the Parquet reader.
#[tokio::test]
async fn bounds_over_columns_that_are_not_kept_change_no_answer() {
    answers_are_equal(1).await;
}

/// The rows that scans of files returned.
fn rows_scanned(plan: &str) -> usize {
    let scans = plan
        .lines()
        .filter(|line| line.contains("file_type=parquet"));
    let rows = scans.filter_map(|scan| {
        let (_, rest) = scan.split_once("output_rows=")?;
        let (figure, _) = rest.split_once(',')?;
        // Thousands are written as `1.50 K`.
        let (figure, unit) = match figure.trim().strip_suffix(" K") {
            Some(thousands) => (thousands, 1000.0),
            None => (figure.trim(), 1.0),
        };
        let figure: f64 = figure.parse().expect("a count of rows");
        Some((figure * unit) as usize)
    });
    rows.sum()
}

#[tokio::test]
async fn a_scan_returns_few_rows_to_a_sort_that_returns_few() {
    let with = World::with(64 << 20, EngineConfig::default()).await;
    for (query, most) in [
        ("requests | top 7 by timestamp desc", 7),
        ("requests | top 7 by timestamp asc", 7),
        (
            "requests | where success == 'False' | top 5 by timestamp desc",
            5,
        ),
    ] {
        // Until the sort column is in memory, a partition may begin to scan while the other one counts rows.
        with.run(query).await;
        let ran = with.run(query).await;
        assert!(rows_scanned(&ran.plan) <= most, "{query}\n{}", ran.plan);
    }
    // All rows with the best duration, which 40 of an hour have, until a sort has nine of them.
    with.run("requests | top 9 by duration desc").await;
    let ran = with.run("requests | top 9 by duration desc").await;
    assert!(rows_scanned(&ran.plan) < 200, "{}", ran.plan);
}

/// The Parquet reader decodes the first key alone of rows that cannot be among the first.
#[tokio::test]
async fn the_condition_of_a_sort_reads_its_first_key_alone() {
    let query = "requests | sort by duration desc, itemId asc | take 9 | project duration, itemId";
    let with = World::with(1, EngineConfig::default()).await;
    let ran = with.run(query).await;
    let scan = ran.scans().join("\n");
    assert!(
        scan.contains("predicate=DynamicFilter [ duration@"),
        "{scan}"
    );
    assert!(!scan.contains("itemId@2 <"), "{scan}");
}
