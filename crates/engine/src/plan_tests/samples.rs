//! `sample` over a real store: which rows are read, and that each row is drawn as often as any other.

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;

use super::{PER_HOUR, Ran, World, minute};

/// The integers of a result's first column.
fn longs(ran: &Ran) -> Vec<i64> {
    let columns = ran.batches.iter().map(|batch| batch.column(0));
    columns
        .flat_map(|column| column.as_primitive::<Int64Type>().values().to_vec())
        .collect()
}

#[tokio::test]
async fn a_sample_of_a_whole_table_reads_its_rows_alone() {
    let world = World::new().await;
    let whole = world.run("requests | project id").await;
    for query in [
        "requests | sample 3 | project id",
        "requests | extend n = strlen(name) | project id, n | sample 3",
        "AppRequests | sample 3 | project Id",
        "let some = requests | sample 3; some | project id",
    ] {
        let ran = world.run(query).await;
        assert_eq!(ran.rows().len(), 3 + 4, "{query}\n{}", ran.plan);
        ran.has_not("Sample");
        for row in ran
            .batches
            .iter()
            .flat_map(|b| b.column(0).as_string_view())
        {
            let row = row.unwrap();
            assert!(
                whole.rows().iter().any(|known| known.contains(row)),
                "{row}"
            );
        }
    }
    // Row groups without a chosen row are not read.
    let ran = world.run("requests | sample 1 | project id").await;
    assert!(ran.scans().len() <= 1, "{}", ran.plan);
}

#[tokio::test]
async fn a_sample_is_of_the_rows_before_it_and_filters_behind_it_see_its_rows() {
    let world = World::new().await;
    let ran = world
        .run("requests | sample 8000 | summarize count(), dcount(itemId), max(timestamp)")
        .await;
    assert_eq!(longs(&ran), [8000]);
    let ran = world
        .run("requests | sample 500 | where success == 'False' | count")
        .await;
    // A tenth of the rows failed: 50 of 500, with a standard deviation of 7.
    let failed = longs(&ran)[0];
    assert!((15..=85).contains(&failed), "{failed}");
    let ran = world.run("requests | sample 500 | take 7 | count").await;
    assert_eq!(longs(&ran), [7]);
    let ran = world.run("requests | sample 500 | count").await;
    assert_eq!(longs(&ran), [500]);
    let ran = world.run("requests | sample 99999 | count").await;
    assert_eq!(longs(&ran), [4 * PER_HOUR as i64]);
    // The catalogue knows the latest time of all rows, which is seldom that of the sample.
    let mut latest = Vec::new();
    for _ in 0..5 {
        let ran = world
            .run("requests | sample 2 | summarize max(timestamp)")
            .await;
        latest.push(longs(&ran)[0]);
    }
    latest.dedup();
    assert!(latest.len() > 1, "{latest:?}");
}

#[tokio::test]
async fn filters_before_a_sample_reach_the_scan() {
    let world = World::new().await;
    let (from, to) = (minute(90), minute(95));
    let late = format!("where timestamp >= {from} and timestamp < {to}");
    for query in [
        format!("requests | {late} | sample 5 | project id"),
        format!("requests | {late} | sample-distinct 5 of id"),
    ] {
        let ran = world.run(&query).await;
        assert!(!ran.scans().is_empty(), "{query}");
        for scan in ran.scans() {
            assert!(
                scan.contains("row_groups_pruned_statistics=4 total → 1 matched"),
                "{query}\n{scan}"
            );
        }
        ran.has("Sample");
        assert_eq!(ran.rows().len(), 5 + 4, "{query}\n{}", ran.plan);
        for columns in ran.columns() {
            assert!(columns.len() <= 2, "{query} reads {columns:?}");
        }
    }
}

/// Draws one of 8,000 rows 400 times, and counts the draws by hour and by quarter of the hour. There are 15 degrees of freedom, so
/// chi-squared is above 37.7 once in a thousand seeds.
#[tokio::test]
async fn every_part_of_a_table_is_sampled_as_often() {
    let world = World::new().await;
    for sample in [
        // Read by number, and from a reservoir.
        "requests | sample 4",
        "requests | where duration >= 0 | sample 4",
        "requests | sample-distinct 4 of timestamp",
    ] {
        let mut drawn = [0_u32; 16];
        for _ in 0..100 {
            let part = format!("(timestamp - {}) / 15m", minute(0));
            let ran = world
                .run(&format!("{sample} | project tolong({part})"))
                .await;
            for part in longs(&ran) {
                drawn[part as usize] += 1;
            }
        }
        assert_eq!(drawn.iter().sum::<u32>(), 400);
        let chi_squared: f64 = drawn
            .iter()
            .map(|n| f64::powi(f64::from(*n) - 25.0, 2) / 25.0)
            .sum();
        assert!(chi_squared < 37.7, "{sample}: {chi_squared}, {drawn:?}");
    }
}
