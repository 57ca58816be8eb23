//! A pipeline over each part of a table gives what it gives over the parts one by one.

use super::query::{self, Parts};
use super::rng::Choice;
use super::world::World;
use super::{IN_TESTS, Rows, Way, Ways, difference, fails_to_plan, from_environment};
use hindsight_kql::Catalog;

/// What the key of a table may be.
const KEYS: [&str; 4] = ["k == 1", "k == 2", "k == 3", "isnull(k)"];

/// The rows of the pipeline over each part for itself.
async fn one_by_one(ways: &Ways, parts: &Parts, catalog: &dyn Catalog) -> Result<Rows, String> {
    let mut all = Rows::new();
    for key in KEYS {
        let part = format!("{}T\n| where {key}", parts.tables);
        if ways.rows(&part, catalog, Way::Optimised).await?.is_empty() {
            continue;
        }
        let text = format!("{part}{}", parts.pipeline);
        for (row, times) in ways.rows(&text, catalog, Way::Optimised).await? {
            *all.entry(row).or_default() += times;
        }
    }
    Ok(all)
}

/// What is wrong with a query, if anything; `Ok(false)` where it is no valid query.
async fn judge(ways: &Ways, parts: &Parts, catalog: &dyn Catalog) -> Result<bool, String> {
    let Parts { tables, pipeline } = parts;
    let pipeline = pipeline.trim_start_matches("\n| ");
    let whole = format!("{tables}T\n| partition by k ({pipeline})");
    let apart = one_by_one(ways, parts, catalog).await;
    for way in [Way::Optimised, Way::AsBound] {
        let together = ways.rows(&whole, catalog, way).await;
        match (&apart, &together) {
            (Err(_), Err(_)) => {}
            (_, Err(error)) if error.starts_with("refused") => return Ok(false),
            (Ok(_), Err(error)) if way == Way::AsBound && fails_to_plan(error) => {}
            (Ok(apart), Ok(together)) => {
                if let Some(lines) = difference(together, apart) {
                    return Err(format!(
                        "the parts together ({way:?}) and apart differ\n{lines}\n{whole}"
                    ));
                }
            }
            (apart, together) => {
                let (apart, together) = (apart.as_ref().err(), together.as_ref().err());
                return Err(format!(
                    "only one of two fails\n{together:?}\n{apart:?}\n{whole}"
                ));
            }
        }
    }
    Ok(true)
}

#[tokio::test]
async fn random_queries_over_parts() {
    let world = World::new().await;
    let catalog = world.catalog();
    let first = from_environment("HINDSIGHT_RANDOM_SEED", 0);
    let count = from_environment("HINDSIGHT_RANDOM_QUERIES", IN_TESTS);
    let ways = Ways::new(&world);
    let (mut valid, mut wrong) = (0, Vec::new());
    for seed in first..first + count {
        let parts = query::over_parts(&mut Choice::new(seed));
        match judge(&ways, &parts, &catalog).await {
            Ok(true) => valid += 1,
            Ok(false) => {}
            Err(what) => wrong.push(format!("seed {seed}: {what}")),
        }
        if wrong.len() >= 20 {
            break;
        }
    }
    let number = wrong.len();
    assert!(
        wrong.is_empty(),
        "{}\n{number} are wrong",
        wrong.join("\n\n")
    );
    assert!(
        valid * 10 >= count * 7,
        "only {valid} of {count} queries are valid"
    );
}
