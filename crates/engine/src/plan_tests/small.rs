//! Plans over few rows: the same answers as those that are divided between partitions, and fewer tasks.

use super::group_by_codes::queries;
use super::{World, minute};
use crate::exec::small::{adapt, returns_first_by_time};

/// A column cache that holds all.
const CACHE: usize = 64 << 20;

#[tokio::test]
async fn adapted_plans_change_no_answer() {
    for column_cache in [0, CACHE] {
        let world = World::with_column_cache(column_cache).await;
        for query in queries() {
            let expected = world.run(&query).await;
            let adapted = world.run_adapted(&query).await;
            assert_eq!(adapted.rows(), expected.rows(), "{query}");
        }
    }
}

#[tokio::test]
async fn few_rows_are_read_by_one_partition_and_more_are_not_divided_behind_the_scans() {
    let world = World::new().await;
    let few = format!(
        "requests | where timestamp < {} | summarize count() by name | sort by count_",
        minute(60)
    );
    let ran = world.run_adapted(&few).await;
    ran.has_not("RepartitionExec");
    ran.has_not("SortPreservingMergeExec");
    ran.has_not("CoalescePartitionsExec");
    world.run(&few).await.has("RepartitionExec");
    let more = "union requests, dependencies, traces | summarize count() by name | sort by count_";
    let ran = world.run_adapted(more).await;
    ran.has_not("RepartitionExec");
    ran.has("CoalescePartitionsExec");
    // What a transform makes of few rows may be many.
    let made = "requests | mv-expand e = range(1, 5) | summarize count() by tostring(e)";
    let ran = world.run_adapted(made).await;
    ran.has("RepartitionExec");
}

#[tokio::test]
async fn the_first_rows_by_time_are_read_by_one_partition() {
    let world = World::new().await;
    let later = minute(60);
    for (query, expected) in [
        ("requests | top 5 by timestamp desc".to_owned(), true),
        ("requests | sort by timestamp asc, id asc | take 5 | project name".to_owned(), true),
        (
            format!("requests | where timestamp > {later} | project at = timestamp, name | sort by at asc, name asc | take 3"),
            true,
        ),
        // These read any number of rows.
        ("requests | where rand() >= 0.0 | top 5 by timestamp desc".to_owned(), false),
        ("requests | where duration > 3 | top 5 by timestamp desc".to_owned(), false),
        ("requests | sort by duration desc, id asc | take 5".to_owned(), false),
        (
            "requests | extend timestamp = timestamp + duration * 1h | sort by timestamp desc, id asc | take 5".to_owned(),
            false,
        ),
        ("requests | sort by timestamp desc, id asc | take 2049".to_owned(), false),
    ] {
        let (_, _, plan) = world.optimised(&query).await;
        assert_eq!(returns_first_by_time(&plan), expected, "{query}\n{plan}");
        let ran = world.run_adapted(&query).await;
        if expected {
            ran.has("file_groups={1 group");
        }
        assert_eq!(ran.rows(), world.run(&query).await.rows(), "{query}");
    }
}

#[tokio::test]
async fn plans_that_other_nodes_may_share_keep_their_phases() {
    let world = World::new().await;
    for (query, distributes, partitions) in [
        ("requests | top 5 by timestamp desc", true, 1),
        ("requests | top 5 by timestamp desc", false, 1),
        ("requests | take 5 | count", true, 2),
        ("requests | take 5 | count", false, 1),
    ] {
        let (_, mut state, plan) = world.optimised(query).await;
        adapt(&mut state, &plan, distributes);
        let found = state.config_options().execution.target_partitions;
        assert_eq!(found, partitions, "{query}, distributes: {distributes}");
    }
}
