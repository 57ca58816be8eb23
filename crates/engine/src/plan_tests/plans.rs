//! What the plans of common questions must not lose: filters and columns that reach the scan, and early ends.

use super::{World, minute};

/// Fails unless files are read for exactly these columns.
#[track_caller]
fn reads(ran: &super::Ran, expected: &[&str]) {
    for columns in ran.columns() {
        let names = columns.iter().filter_map(|c| c.split(['@', ' ']).next());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected, "{}", ran.plan);
    }
}

#[tokio::test]
async fn aggregates_read_only_their_columns_and_begin_in_every_partition() {
    let world = World::new().await;
    for (query, columns, aggregate) in [
        (
            "requests | summarize count() by bin(timestamp, 1h)",
            vec!["timestamp"],
            "gby=[bin(timestamp@0, 36000000000)",
        ),
        (
            "requests | summarize percentiles(duration, 50, 95, 99) by name, bin(timestamp, 1h)",
            vec!["timestamp", "name", "duration"],
            // One sketch answers all three.
            "aggr=[percentiles[50;95;99](",
        ),
        (
            "requests | summarize dcount(user_Id) by bin(timestamp, 1d)",
            vec!["timestamp", "user_Id"],
            "aggr=[dcount",
        ),
        (
            "requests | summarize arg_max(timestamp, url, user_Id) by operation_Name",
            vec!["timestamp", "url", "user_Id", "operation_Name"],
            "aggr=[row_of_max",
        ),
        (
            "requests | extend wide = strcat(url, id) | summarize sum(duration) by cloud_RoleName",
            vec!["duration", "cloud_RoleName"],
            "aggr=[sum(duration)",
        ),
    ] {
        let ran = world.run(query).await;
        reads(&ran, &columns);
        ran.has(aggregate);
        ran.has("mode=Partial");
        ran.has("mode=FinalPartitioned");
        ran.has_not("CoalescePartitionsExec");
    }
}

#[tokio::test]
async fn steps_with_work_of_their_own_let_columns_through() {
    let world = World::new().await;
    for (query, columns) in [
        (
            "requests | top 10 by duration | summarize avg(duration)",
            vec!["duration"],
        ),
        (
            "requests | sort by timestamp asc | summarize make_list(name)",
            vec!["timestamp", "name"],
        ),
        (
            "requests | sort by timestamp asc | extend n = row_number(), before = prev(name) | where n > 3 | project n, before",
            vec!["timestamp", "name"],
        ),
        (
            "traces | parse message with * 'handled ' n:long | summarize sum(n) by operation_Name",
            vec!["message", "operation_Name"],
        ),
        (
            "requests | mv-expand d = customDimensions | summarize count() by tostring(d), name",
            vec!["customDimensions", "name"],
        ),
        (
            "requests | mv-apply d = customDimensions on (where isnotempty(d) | count) | summarize max(Count) by name",
            vec!["customDimensions", "name"],
        ),
        (
            "requests | partition hint.strategy=native by name (top 1 by duration) | summarize max(duration)",
            vec!["duration", "name"],
        ),
        (
            "requests | sort by timestamp asc | serialize | project name",
            vec!["timestamp", "name"],
        ),
    ] {
        let ran = world.run(query).await;
        reads(&ran, &columns);
    }
}

#[tokio::test]
async fn steps_with_work_of_their_own_let_filters_through() {
    let world = World::new().await;
    let (from, to) = (minute(90), minute(95));
    let late = format!("where timestamp >= {from} and timestamp < {to}");
    for query in [
        format!("traces | parse message with * 'handled ' n:long | {late} | summarize sum(n)"),
        format!("traces | parse-where message with * 'handled ' n:long | {late} | count"),
        format!("requests | mv-expand d = customDimensions | {late} | count"),
    ] {
        let ran = world.run(&query).await;
        assert!(!ran.scans().is_empty(), "{query}");
        for scan in ran.scans() {
            assert!(
                scan.contains("row_groups_pruned_statistics=4 total → 1 matched"),
                "{query}\n{scan}"
            );
        }
    }
}

#[tokio::test]
async fn time_prunes_segments_and_row_groups() {
    let world = World::new().await;
    let (from, to) = (minute(90), minute(95));
    for query in [
        format!(
            "requests | where timestamp >= {from} and timestamp < {to} and success == 'False' | take 1000"
        ),
        format!("requests | where timestamp between ({from} .. {to}) | where success == 'False'"),
        format!("requests | extend t = timestamp | where t > {from} | where t < {to}"),
        format!("union requests, dependencies | where timestamp >= {from} and timestamp < {to}"),
        format!(
            "requests | join kind=inner (dependencies | where timestamp > {from}) on operation_Id \
                 | where timestamp >= {from} and timestamp < {to} and timestamp1 < {to} | project id"
        ),
    ] {
        let ran = world.run(&query).await;
        assert!(!ran.scans().is_empty(), "{query}");
        for scan in ran.scans() {
            assert!(
                scan.contains("files_ranges_pruned_statistics=1 total"),
                "{query}\n{scan}"
            );
            assert!(
                scan.contains("row_groups_pruned_statistics=4 total → 1 matched"),
                "{query}\n{scan}"
            );
        }
    }
}

#[tokio::test]
async fn lookups_ask_bloom_filters_before_they_read() {
    let world = World::new().await;
    let ran = world.run("requests | where id == 'requests-id-1-77'").await;
    ran.has("required_guarantees=[id in (requests-id-1-77)]");
    // One file, and of it the row group that has the id.
    ran.has("file_groups={1 group: [[");
    ran.has("row_groups_pruned_bloom_filter=1 total → 1 matched");
    // Inside the range of the ids, in no row: no file is opened.
    let ran = world
        .run("requests | where operation_Id == 'op-1-77x'")
        .await;
    assert_eq!(ran.scans(), Vec::<&str>::new(), "{}", ran.plan);
}

#[tokio::test]
async fn the_latest_rows_end_early() {
    let world = World::new().await;
    for query in [
        "requests | top 100 by timestamp desc",
        "requests | sort by timestamp desc | take 100",
    ] {
        let ran = world.run(query).await;
        ran.has("SortExec: TopK(fetch=100)");
        ran.has("predicate=DynamicFilter [ timestamp@0 >");
        // Memory has the latest, so that no file is read.
        ran.has("files_ranges_pruned_statistics=3 total → 0 matched");
    }
    world.run("requests | take 5").await.has("limit=5");
}

#[tokio::test]
async fn counts_come_from_catalogue_statistics() {
    let world = World::new().await;
    let ran = world.run("requests | count").await;
    ran.has("PlaceholderRowExec");
    let ran = world
        .run("requests | where success == 'False' | summarize count()")
        .await;
    reads(&ran, &[]);
}

#[tokio::test]
async fn text_filters_reach_the_files() {
    let world = World::new().await;
    for (query, predicate) in [
        (
            "traces | where message has 'deadlock' | count",
            "predicate=$Hasfalse(message@",
        ),
        (
            "traces | where message contains 'timed out after' | count",
            "predicate=$Containsfalse(message@",
        ),
        (
            "traces | where operation_Name in ('GET /1', 'x') | count",
            "required_guarantees=[operation_Name in (",
        ),
    ] {
        let ran = world.run(query).await;
        ran.has(predicate);
        reads(&ran, &[]);
    }
}

#[tokio::test]
async fn joins_build_on_the_smaller_side_and_narrow_the_other() {
    let world = World::new().await;
    let from = minute(60);
    for query in [
        "requests | where id == 'requests-id-1-78' | project operation_Id | join kind=inner (dependencies | project operation_Id, duration) on operation_Id".to_owned(),
        format!(
            "dependencies | where timestamp >= {from} | project operation_Id, duration | join kind=inner (requests | where timestamp >= {from} and id == 'requests-id-1-78' | project operation_Id) on operation_Id"
        ),
    ] {
        let ran = world.run(&query).await;
        let lines: Vec<&str> = ran.plan.lines().collect();
        let join = lines
            .iter()
            .position(|l| l.contains("HashJoinExec"))
            .unwrap();
        let first = lines[join..]
            .iter()
            .find(|l| l.contains("file_type=parquet"))
            .unwrap();
        assert!(first.contains("/requests/"), "{query}\n{}", ran.plan);
        ran.has("DynamicFilter [ operation_Id@");
    }
}

#[tokio::test]
async fn the_first_of_united_tables_are_sorted_by_what_differs_between_them() {
    let world = World::new().await;
    let ran = world
        .run("requests | extend n = 1 | union (traces | extend n = 2) | sort by n desc, timestamp desc | take 3 | project n")
        .await;
    let sort = ran.plan.lines().find(|line| line.contains("TopK")).unwrap();
    assert!(sort.contains("expr=[n@"), "{}", ran.plan);
    assert_eq!(
        ran.batches
            .iter()
            .map(|rows| rows.num_rows())
            .sum::<usize>(),
        3
    );
}

#[tokio::test]
async fn success_beside_a_bool_is_planned_as_a_test_of_its_texts() {
    let world = World::new().await;
    for (query, text) in [
        (
            "requests | where success == false | project name",
            "requests | where success == 'False' | project name",
        ),
        (
            "requests | where success != true | project name",
            "requests | where success != 'True' | project name",
        ),
        (
            "requests | project s = success, name | where false == s | project name",
            "requests | project s = success, name | where 'False' == s | project name",
        ),
        (
            "requests | where success in (false) | project name",
            "requests | where success in ('False') | project name",
        ),
        (
            "union requests, dependencies | where success == false | project name",
            "union requests, dependencies | where success == 'False' | project name",
        ),
        (
            "requests | summarize countif(success == false) by name",
            "requests | summarize countif(success == 'False') by name",
        ),
    ] {
        let (converted, plain) = (world.run(query).await, world.run(text).await);
        assert_eq!(converted.rows(), plain.rows(), "{query}");
        assert!(converted.rows().len() > 4, "{query} finds rows");
        converted.has_not("$convert");
        reads_alike(&converted, &plain);
    }
}

/// Fails unless both plans scan files for the same columns.
#[track_caller]
fn reads_alike(one: &super::Ran, other: &super::Ran) {
    assert_eq!(
        one.columns(),
        other.columns(),
        "{}\n{}",
        one.plan,
        other.plan
    );
}

#[tokio::test]
async fn text_of_no_fixed_list_is_converted() {
    let world = World::new().await;
    let query = "requests | where operation_Name == 5 or cloud_RoleName == true | count";
    world.run(query).await.has("$convert");
    let query = "requests | extend success = strcat(success, '') | where success == false | count";
    let ran = world.run(query).await;
    ran.has("$convert");
    assert!(
        ran.rows().iter().any(|row| row.contains("800")),
        "{ran:?}",
        ran = ran.rows()
    );
}

#[tokio::test]
async fn a_join_of_bins_reads_all_rows_of_the_bins() {
    let world = World::with_column_cache(1 << 20).await;
    let query = "requests | summarize n = count() by bin(timestamp, 1h)
        | join kind=inner (requests | summarize users = dcount(user_Id) by bin(timestamp, 1h)) on timestamp
        | summarize count(), min(users), max(users)";
    let ran = world.run(query).await;
    // Four hours, each with 90 users.
    assert!(
        ran.rows()
            .iter()
            .any(|row| row == "| 4      | 90        | 90        |"),
        "{:?}",
        ran.rows()
    );
}
