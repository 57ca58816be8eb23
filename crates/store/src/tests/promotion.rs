//! Bag keys as columns, from segments that promote them and from those that do not.

use arrow::datatypes::Float64Type;
use datafusion::prelude::{col, ident, lit};

use super::*;
use crate::{LeafKind, PromotedColumn};

fn leaf(bag: &str, key: &str, kind: LeafKind) -> PromotedColumn {
    PromotedColumn {
        bag: bag.to_owned(),
        key: key.to_owned(),
        kind,
    }
}

fn with_bags(id: &str, dimensions: &'static str, measurements: &'static str) -> Item {
    Item {
        dimensions,
        measurements,
        ..item(id, 1)
    }
}

/// Three places: a segment that promotes both keys, one that cannot, and memory.
async fn three_places(dir: &Path) -> Arc<Store> {
    let store = Store::open(quiet(dir)).await.unwrap();
    let fitting = [
        with_bags("a", r#"{"colour":"red","size":"1"}"#, r#"{"weight":1.5}"#),
        with_bags("b", r#"{"size":"2"}"#, r#"{"weight":2}"#),
    ];
    put(&store, app(1), &fitting).await.unwrap();
    store.seal_all().await.unwrap();
    let mixed = [
        with_bags("c", r#"{"colour":"red"}"#, r#"{"weight":"heavy"}"#),
        with_bags("d", r#"{"colour":17}"#, "{}"),
    ];
    put(&store, app(1), &mixed).await.unwrap();
    store.seal_all().await.unwrap();
    let fresh = [
        with_bags("e", r#"{"colour":"red"}"#, r#"{"weight":4}"#),
        item("f", 1),
    ];
    put(&store, app(1), &fresh).await.unwrap();
    store
}

#[tokio::test]
async fn a_promoted_column_says_what_the_bag_says_wherever_it_comes_from() {
    let dir = tempfile::tempdir().unwrap();
    let store = three_places(dir.path()).await;
    let table = || {
        store
            .snapshot()
            .table(&[app(1)], Table::Requests)
            .with_promoted(vec![
                leaf("customDimensions", "colour", LeafKind::Text),
                leaf("customMeasurements", "weight", LeafKind::Real),
                leaf("noSuchBag", "colour", LeafKind::Text),
            ])
    };
    assert_eq!(
        table().promoted_somewhere(),
        [
            "customDimensions.colour",
            "customDimensions.size",
            "customMeasurements.weight"
        ]
    );
    let frame = || session().read_table(Arc::new(table())).unwrap();
    let columns = vec![
        col("id"),
        ident("customDimensions.colour"),
        ident("customMeasurements.weight"),
    ];
    let rows = frame()
        .select(columns)
        .unwrap()
        .sort(vec![col("id").sort(true, false)])
        .unwrap();
    let batches = rows.collect().await.unwrap();
    let mut found = Vec::new();
    for batch in &batches {
        let (ids, colours) = (
            batch.column(0).as_string_view(),
            batch.column(1).as_string_view(),
        );
        let weights = batch.column(2).as_primitive::<Float64Type>();
        for ((id, colour), weight) in ids.iter().zip(colours).zip(weights) {
            found.push((id.unwrap().to_owned(), colour.map(str::to_owned), weight));
        }
    }
    let row =
        |id: &str, colour: Option<&str>, weight| (id.to_owned(), colour.map(str::to_owned), weight);
    let expected = [
        row("a", Some("red"), Some(1.5)),
        row("b", None, Some(2.0)),
        row("c", Some("red"), None),
        row("d", Some("17"), None),
        row("e", Some("red"), Some(4.0)),
        row("f", None, None),
    ];
    assert_eq!(found, expected);

    let red = frame()
        .filter(ident("customDimensions.colour").eq(lit("red")))
        .unwrap();
    assert_eq!(ids_of(red).await, ["a", "c", "e"]);
    let heavy = frame()
        .filter(ident("customMeasurements.weight").gt(lit(1.9)))
        .unwrap();
    assert_eq!(ids_of(heavy).await, ["b", "e"]);
}

#[tokio::test]
async fn merging_promotes_only_what_fits_in_all_segments() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        ..quiet(dir.path())
    };
    drop(three_places(dir.path()).await);
    let store = Store::open(config).await.unwrap();
    store.seal_all().await.unwrap();
    clock.pass(std::time::Duration::from_secs(2 * 3600));
    assert_eq!(store.compact().await.unwrap(), 1);
    let table = store.snapshot().table(&[app(1)], Table::Requests);
    assert_eq!(table.segments_in(&[]), 1);
    assert_eq!(table.promoted_somewhere(), ["customDimensions.size"]);
    assert_eq!(ids(&store, app(1)).await, ["a", "b", "c", "d", "e", "f"]);
}
