//! Conditions over the rows of a query.

use hindsight_engine::{EngineError, QueryResult};
use hindsight_store::Table;

use crate::support::{Fixture, row, rows};

async fn shop() -> Fixture {
    let f = Fixture::new().await;
    let requests = [
        row!["09:00", name: "GET /", success: "True", duration: 10.0],
        row!["10:00", name: "GET /cart", success: "False", duration: 30.0],
    ];
    f.put(Table::Requests, &requests).await;
    f
}

async fn with_condition(
    f: &Fixture,
    query: &str,
    condition: &str,
) -> Result<QueryResult, EngineError> {
    let prepared = f.engine.prepare_with_condition(f.request(query), condition);
    f.engine.start(&prepared.await?).await?.collect().await
}

#[tokio::test]
async fn the_condition_is_the_last_table() {
    let f = shop().await;
    for (query, condition, expected) in [
        ("requests", "count() == 2", "True"),
        ("requests | where name == 'GET /'", "count() > 1", "False"),
        (
            "requests | project duration",
            "sum(duration) == 40 and max(duration) < 31",
            "True",
        ),
        (
            "let slow = 20; requests | where duration > slow",
            "countif(success == false) == 1",
            "True",
        ),
        ("requests // all\n", "count() == 2", "True"),
        ("exceptions;", "count() == 0", "True"),
        (
            "requests | summarize count() by name | render piechart",
            "count() == 2",
            "True",
        ),
        ("requests | where name == 'none'", "max(duration) > 1", ""),
    ] {
        let result = with_condition(&f, query, condition).await.unwrap();
        assert_eq!(result.tables.len(), 2, "{query}");
        assert_eq!(rows(&result.tables[1]), [expected], "{query}: {condition}");
        // No order is defined.
        let (mut alone, mut found) = (f.rows(query).await, rows(&result.tables[0]));
        alone.sort();
        found.sort();
        assert_eq!(alone, found, "{query}");
    }
}

#[tokio::test]
async fn errors_point_into_query_and_condition() {
    let f = shop().await;
    for (query, condition, line, column, token) in [
        ("requests\n| where nam == 1", "count() > 1", 2, 8, "nam"),
        ("requests\n| where true", "cuont() > 1", 3, 0, "cuont"),
        ("requests\n| where true", "count() > ", 3, 10, ""),
        ("requests\n| where true", "count() > 1 2", 3, 12, "2"),
    ] {
        let error = with_condition(&f, query, condition).await.unwrap_err();
        let EngineError::Query { text, diagnostics } = error else {
            panic!("{query} {condition}: {error:?}");
        };
        assert_eq!(
            diagnostics[0].position(&text),
            (line, column, token),
            "{condition}"
        );
    }
    let two = with_condition(&f, "requests; traces", "count() > 1").await;
    assert!(
        matches!(two, Err(EngineError::BadParameter { .. })),
        "{two:?}"
    );
}

#[tokio::test]
async fn the_plan_of_a_query_with_the_same_text_is_another_one() {
    let f = shop().await;
    let (query, condition) = ("requests | summarize n = count()", "- count()");
    let text = format!("{query}\n{condition}");
    assert_eq!(f.rows(&text).await, ["0"]);
    assert_eq!(f.engine.kept_plans(), 1, "a plan of this text is kept");
    let result = with_condition(&f, query, condition).await.unwrap();
    // The condition counts the one row of the query.
    let found: Vec<_> = result.tables.iter().map(rows).collect();
    assert_eq!(found, [["2"], ["-1"]]);
}
