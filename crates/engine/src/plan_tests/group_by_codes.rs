//! Groups by the codes of columns in memory: the same answers as by values, and plans that use them.

use super::{World, minute};
use crate::config::EngineConfig;

/// Aggregations over texts, expressions over texts and bins of time, some of them with keys that have no codes.
pub(super) fn queries() -> Vec<String> {
    let (from, to) = (minute(50), minute(95));
    let mut queries: Vec<String> = [
        "requests | summarize c = count() by bin(timestamp, 1h)",
        "requests | summarize count() by bin(timestamp, 1m), name",
        "requests | summarize count() by name, bin(timestamp, 7m), cloud_RoleName",
        "requests | summarize count(), avg(duration), dcount(user_Id), max(duration), min(timestamp) by cloud_RoleName, name",
        "requests | summarize count(), sum(duration) by user_Id, name, success, bin(timestamp, 1m)",
        "requests | summarize count() by bin(timestamp, 1tick), name",
        "requests | where success == 'False' | summarize count() by name",
        "requests | where success == 'False' and name == 'no such name' | summarize count() by name",
        "requests | summarize failed = countif(success == 'False'), slow = countif(duration > 25), named = countif(strcat(name, success) has 'True'), total = count() by cloud_RoleName, bin(timestamp, 1h)",
        "requests | summarize sumif(duration, success == 'False'), dcountif(user_Id, name == 'GET /1') by name",
        "requests | summarize percentiles(duration, 50, 95) by name, bin(timestamp, 1h)",
        "requests | summarize arg_max(timestamp, itemId, user_Id), take_anyif(name, name == 'x') by operation_Name",
        "requests | summarize arg_max(timestamp, *) by operation_Name",
        "requests | summarize arg_max(timestamp, itemId, id) by operation_Name, cloud_RoleName, success",
        "requests | where success == 'False' and duration > 12 | summarize arg_max(timestamp, itemId, customDimensions) by name, tolower(user_Id)",
        "requests | where timestamp < datetime(2026-11-20T01:30:00Z) | summarize arg_max(timestamp, itemId), arg_max(timestamp, user_Id) by name",
        "requests | summarize arg_max(timestamp, itemId), count() by name",
        "requests | summarize arg_max(duration, itemId) by name | project name, duration",
        "requests | summarize arg_min(timestamp, itemId) by name",
        "requests | summarize arg_max(timestamp, itemId) by tostring(customDimensions.note), name",
        "requests | summarize arg_max(timestamp, itemId) by name | join kind=inner (requests | summarize arg_max(timestamp, id) by name) on name",
        "requests | summarize dcount(user_Id), dcount(customDimensions.size), dcount(itemId) by bin(timestamp, 1h)",
        "requests | summarize dcount(name), make_set(name), count() by name",
        "requests | summarize count(name), countif(isempty(resultCode)), make_list(resultCode) by resultCode",
        "requests | summarize count() by toupper(name), substring(user_Id, 5, 1)",
        "requests | summarize count() by strlen(name), success == 'False'",
        "requests | summarize count() by toint(substring(name, 5)), todouble(substring(user_Id, 5))",
        "requests | summarize count() by strcat(name, success)",
        "requests | summarize count() by name, duration",
        "requests | summarize c = count() by g = tostring(customDimensions.region)",
        "requests | summarize c = count() by g = tostring(customDimensions.size), tostring(customDimensions.note)",
        "requests | where customDimensions.tenantId == 'tenant-3' | summarize c = count() by g = tostring(customDimensions.region)",
        "requests | extend r = tolower(cloud_RoleName) | summarize count() by r | summarize sum(count_)",
        "requests | summarize c = count(), s = sum(duration) by cloud_RoleName, name | summarize rc = sum(c), best = max(s / c) by cloud_RoleName | top 5 by rc",
        "requests | summarize count() by itemId | summarize count()",
        "requests | summarize by name, success",
        "requests | distinct cloud_RoleName",
        "requests | summarize count_distinct(user_Id) by name",
        "union requests, dependencies, traces | summarize count() by itemType, cloud_RoleName",
        "requests | where success == 'False' | project operation_Id, user_Id | join kind=inner (dependencies | project operation_Id, name, duration) on operation_Id | summarize count(), sum(duration) by name",
        "requests | make-series count() on timestamp step 1h by name",
        "requests | top-nested 2 of name by count(), top-nested 1 of cloud_RoleName by sum(duration)",
        "requests | partition hint.strategy=native by name (summarize count() by success)",
        "AppRequests | summarize count() by Name, bin(TimeGenerated, 1h)",
        "requests | summarize count() by name | where count_ > 100 | count",
    ]
    .map(str::to_owned)
    .into();
    queries.extend([
        format!(
            "requests | where timestamp between ({from} .. {to}) | summarize count() by name, bin(timestamp, 5m)"
        ),
        format!("requests | where timestamp > {to} | summarize count() by bin(timestamp, 1h)"),
        format!("requests | where timestamp == {from} | summarize count() by name"),
    ]);
    queries
}

async fn worlds(column_cache_bytes: usize) -> (World, World) {
    let by_values = EngineConfig {
        group_by_codes: false,
        ..EngineConfig::default()
    };
    (
        World::with(column_cache_bytes, EngineConfig::default()).await,
        World::with(column_cache_bytes, by_values).await,
    )
}

#[tokio::test]
async fn codes_change_no_answer() {
    for bytes in [64 << 20, 60_000] {
        let (by_codes, by_values) = worlds(bytes).await;
        for query in queries() {
            let expected = by_values.run(&query).await;
            expected.has_not("GroupByCodes");
            // The first run reads the footers, the second decodes large columns too, the third finds all in memory.
            for round in ["first", "second", "third"] {
                let ran = by_codes.run(&query).await;
                assert_eq!(
                    ran.rows(),
                    expected.rows(),
                    "{round}: {query}\n{}",
                    ran.plan
                );
            }
        }
    }
}

#[tokio::test]
async fn keys_with_codes_are_grouped_by_them() {
    let (world, _) = worlds(64 << 20).await;
    for (query, is_coded) in [
        ("requests | summarize count() by name", true),
        ("requests | summarize count() by bin(timestamp, 1h)", true),
        (
            "requests | summarize avg(duration) by name, cloud_RoleName, bin(timestamp, 5m)",
            true,
        ),
        ("requests | summarize count() by tolower(name)", true),
        (
            "requests | summarize count() by tostring(customDimensions.size)",
            true,
        ),
        (
            "requests | extend n = tolower(name) | summarize countif(success == 'True') by n",
            true,
        ),
        ("requests | summarize count() by itemId", false),
        ("requests | summarize count() by duration", false),
        (
            "requests | summarize count() by bin(timestamp, 1tick)",
            false,
        ),
        (
            "requests | summarize count() by strcat(name, success)",
            false,
        ),
        ("requests | summarize count()", false),
    ] {
        world.run(query).await;
        let ran = world.run(query).await;
        assert_eq!(
            ran.plan.contains("GroupByCodesExec"),
            is_coded,
            "{query}\n{}",
            ran.plan
        );
    }
}

#[tokio::test]
async fn the_latest_rows_of_groups_are_read_alone() {
    let (world, by_values) = worlds(64 << 20).await;
    let query =
        "requests | summarize arg_max(timestamp, itemId, customDimensions) by operation_Name";
    let expected = by_values.run(query).await;
    world.run(query).await;
    world
        .run("requests | summarize count() by operation_Name, bin(timestamp, 1h)")
        .await;
    let ran = world.run(query).await;
    assert_eq!(ran.rows(), expected.rows());
    // Of three segments of 2,000 rows, each of seven operations: those of the latest, and of the first that the other partition reads.
    let rows = |scan: &str| {
        let rows = scan.split_once("output_rows=")?.1;
        rows.split(',').next()?.parse::<u64>().ok()
    };
    let read: Vec<Option<u64>> = ran.scans().into_iter().map(rows).collect();
    assert!(matches!(read.as_slice(), [Some(7..=14)]), "{}", ran.plan);
}

/// The first queries read a column that is too large to be kept: the codes of the key are kept all the same.
#[tokio::test]
async fn keys_are_kept_beside_columns_that_are_too_large() {
    let (world, by_values) = worlds(1 << 18).await;
    let query = "requests | summarize arg_max(timestamp, itemId) by operation_Name";
    let expected = by_values.run(query).await;
    for _ in 0..2 {
        assert_eq!(world.run(query).await.rows(), expected.rows());
    }
    let ran = world.run(query).await;
    assert_eq!(ran.rows(), expected.rows());
    ran.has("GroupByCodesExec");
}

#[tokio::test]
async fn rows_in_memory_are_grouped_beside_those_of_segments() {
    let (world, _) = worlds(64 << 20).await;
    let query = "requests | summarize count() by name";
    world.run(query).await;
    let ran = world.run(query).await;
    ran.has("UnionExec");
    ran.has("GroupByCodesExec");
    ran.has("AggregateExec: mode=Partial");
    assert_eq!(ran.rows().len(), 7 + 4);
}
