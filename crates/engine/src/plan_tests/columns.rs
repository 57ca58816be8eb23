//! Columns read from the cache: the same answers as from files.

use super::{World, bytes_read, minute};

/// Queries over coded and plain columns, promoted keys, bags and times; with outputs in memory and in files, limits and dynamic filters.
fn queries() -> Vec<String> {
    let (from, to) = (minute(50), minute(95));
    let mut queries: Vec<String> = [
        "requests | summarize c = count() by bin(timestamp, 1h)",
        "requests | summarize count(), avg(duration), dcount(user_Id) by cloud_RoleName, name",
        "requests | where success == 'False' | summarize count() by name",
        "requests | where success != 'True' and duration > 20 | summarize sum(duration) by cloud_RoleName",
        "requests | where success == 'False' and name == 'no such name' | count",
        "requests | where name in ('GET /1', 'GET /3') or duration < 2 | summarize count() by success",
        "requests | where name has 'get' and name contains '/2' | count",
        "requests | where name matches regex '/[13]$' | summarize count() by name",
        "requests | where isempty(resultCode) | count",
        "requests | where user_Id == 'user-7' | top 5 by timestamp desc",
        "requests | where user_Id == 'user-7' and operation_Id endswith '7' | project timestamp, operation_Id",
        "requests | where id == 'requests-id-1-77'",
        "requests | where 'requests-id-1-77' == id or id == 'requests-id-2-5' | project id, name",
        "requests | where operation_Id == 'op-2-1999' and success == 'True' | project itemId, operation_Id",
        "union requests, dependencies, traces | where operation_Id == 'op-0-7' | project itemType, itemId",
        "requests | where id == 'requests-id-1-77' and success == 'True' and duration >= 0 | project itemId, name, customDimensions",
        "requests | where id == 'requests-id-1-77' and success == 'no such value'",
        "requests | where operation_Id in ('op-1-77', 'op-1-78', 'op-2-5') and name has 'get' | top 2 by timestamp desc | project id, name, duration",
        "requests | where operation_Id == 'op-1-77' | project tostring(customDimensions.region), tostring(customDimensions.nothing), success",
        "requests | where id == 'requests-id-1-77' and tostring(customDimensions.tenantId) startswith 'tenant' | project id",
        "requests | where id == 'no such id' | count",
        "requests | where itemId == '' | count",
        "requests | top 7 by timestamp desc",
        "requests | top 7 by timestamp asc | project itemId, customDimensions",
        "requests | sort by duration desc, itemId asc | take 9 | project duration, itemId, url",
        "requests | sort by duration desc, itemId asc | take 20",
        "requests | where name == 'GET /5' | sort by duration asc, itemId asc | take 3 | project itemId, customMeasurements",
        "requests | where success == 'False' | sort by timestamp asc, itemId asc",
        "requests | where cloud_RoleName == 'role-1' and success == 'False' and duration >= 30 | project itemId, customDimensions",
        "requests | where customDimensions.tenantId == 'tenant-3' | summarize c = count() by g = tostring(customDimensions.region)",
        "requests | where customDimensions.region == '' and customDimensions.size == '2' | count",
        "requests | where isnull(todouble(customMeasurements.weight)) | summarize count(), sum(todouble(customMeasurements.items)) by name",
        "requests | extend slow = duration > 25 | summarize count() by slow, tolower(name)",
        "requests | summarize arg_max(timestamp, itemId, user_Id) by operation_Name",
        "requests | where success == 'False' | project operation_Id | join kind=inner (dependencies | project operation_Id, duration) on operation_Id | summarize count(), sum(duration)",
        "requests | join kind=inner (dependencies | where duration == 7) on operation_Id | summarize count() by name, name1",
        "requests | join kind=leftouter (dependencies | where name == 'GET /1' | project user_Id, d = duration) on user_Id | summarize count(), sum(d)",
        "union requests, dependencies, traces | summarize count() by itemType, cloud_RoleName",
        "traces | where message has 'deadlock' | project timestamp, message",
        "traces | where operation_Name == 'GET /3' and message contains 'timed out' | project itemId, message",
        "requests | distinct name, success",
        "requests | summarize by user_Id | count",
        "requests | count",
        "requests | summarize min(timestamp), max(timestamp)",
        "requests | project now() | count",
        "AppRequests | where Success == false | summarize count() by Name",
        "let failed = requests | where success == 'False' | distinct user_Id; dependencies | where user_Id in (failed) | count",
    ]
    .map(str::to_owned)
    .into();
    queries.extend([
        format!("requests | where timestamp between ({from} .. {to}) | summarize count() by name"),
        format!("requests | where timestamp >= {from} and timestamp < {to} and success == 'False'"),
        format!("requests | where timestamp == {from} | count"),
        format!(
            "requests | where timestamp > {to} or name == 'GET /1' | summarize count() by name"
        ),
        format!(
            "dependencies | where timestamp > {to} | top 3 by timestamp asc | project timestamp, id"
        ),
    ]);
    queries
}

async fn answers_are_equal(bytes: usize) {
    let (world, files) = (World::with_column_cache(bytes).await, World::new().await);
    for query in queries() {
        let expected = files.run(&query).await;
        for round in ["first", "second", "third"] {
            let ran = world.run(&query).await;
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
async fn cached_columns_change_no_answer() {
    answers_are_equal(64 << 20).await;
}

#[tokio::test]
async fn evicted_columns_change_no_answer() {
    answers_are_equal(60_000).await;
}

#[tokio::test]
async fn a_column_is_read_from_the_file_once() {
    let world = World::with_column_cache(64 << 20).await;
    let query = "requests | where success == 'False' | summarize count() by name";
    let read = |scans: Vec<&str>| {
        let bytes = |scan: &str| scan.contains("bytes_scanned=");
        scans.into_iter().any(bytes)
    };
    let (first, second) = (world.run(query).await, world.run(query).await);
    assert!(read(first.scans()), "{}", first.plan);
    assert!(!read(second.scans()), "{}", second.plan);
    assert_eq!(first.rows(), second.rows());
    let selected = world
        .run("requests | where success == 'False' and duration > 48 | project itemId")
        .await;
    assert!(read(selected.scans()), "{}", selected.plan);
}

#[tokio::test]
async fn a_lookup_opens_only_the_files_that_may_have_the_value() {
    let world = World::with_column_cache(64 << 20).await;
    let absent = "requests | where operation_Id == 'op-1-77x' | count";
    let read = |scans: Vec<&str>| {
        scans
            .into_iter()
            .any(|scan| scan.contains("bytes_scanned="))
    };
    let without = world.run(absent).await;
    assert!(!read(without.scans()), "{}", without.plan);
    let found = world
        .run("requests | where operation_Id == 'op-1-77' | project itemId")
        .await;
    assert!(read(found.scans()), "{}", found.plan);
    assert!(
        found.rows().iter().any(|row| row.contains("requests-1-77")),
        "{:?}",
        found.rows()
    );
}

#[tokio::test]
async fn a_lookup_reads_only_the_columns_that_are_not_in_memory() {
    let world = World::with_column_cache(64 << 20).await;
    let lookup =
        "requests | where id == 'requests-id-1-77' | project itemId, name, success, duration";
    let before = world.run(lookup).await;
    world
        .run("requests | summarize avg(duration) by name, success")
        .await;
    let after = world.run(lookup).await;
    assert_eq!(before.rows(), after.rows());
    let of_item = |row: &String| row.contains("requests-1-77");
    assert!(after.rows().iter().any(of_item), "{:?}", after.rows());
    let (before, after) = (bytes_read(&before.plan), bytes_read(&after.plan));
    assert!(0.0 < after && after < before, "{before} {after}");
}
