//! `$apply` by value (`D14`, OData Data Aggregation 4.0 §3).

use hindsight_engine::EventsParameters;
use hindsight_store::Table;

use crate::support::{Fixture, row, rows};

async fn telemetry() -> Fixture {
    let f = Fixture::new().await;
    let requests = [
        row!["11:00", itemId: "r1", name: "GET /", duration: 10.0, success: "True", client_City: "Oslo",
            customDimensions: r#"{"plan":"gold","size":"3"}"#],
        row!["11:10", itemId: "r2", name: "GET /cart", duration: 30.0, success: "False", client_City: "Rome",
            customDimensions: r#"{"plan":"free","size":"4"}"#],
        row!["11:20", itemId: "r3", name: "GET /", duration: 20.0, success: "True", client_City: "Rome"],
        row!["11:30", itemId: "r4", name: "GET /slow", success: "False"],
        row!["2025-03-05T11:00:00Z", itemId: "old", name: "GET /old", duration: 99.0],
    ];
    f.put(Table::Requests, &requests).await;
    let traces = [row!["11:05", itemId: "t1", message: "hello", severityLevel: 3]];
    f.put(Table::Traces, &traces).await;
    f
}

fn request(apply: &str, more: &[(&str, &str)]) -> EventsParameters {
    let value = |wanted: &str| {
        let found = more.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| (*value).to_owned())
    };
    EventsParameters {
        event_type: value("type").unwrap_or_else(|| "requests".to_owned()),
        apply: Some(apply.to_owned()),
        timespan: value("timespan"),
        filter: value("$filter"),
        search: value("$search"),
        orderby: value("$orderby"),
        select: value("$select"),
        skip: value("$skip"),
        top: value("$top"),
        count: value("$count"),
    }
}

#[tokio::test]
async fn rows_are_grouped_and_aggregated() {
    let f = telemetry().await;
    for (apply, more, expected) in [
        ("aggregate($count as n)", vec![], vec!["n=4"]),
        (
            "aggregate(request/duration with sum as total,request/duration with average as mean,\
             request/duration with min as least,request/duration with max as most)",
            vec![],
            vec!["total=60.0 mean=20.0 least=10.0 most=30.0"],
        ),
        // What has no value does not count, and nothing has the sum null.
        (
            "filter(request/name eq 'GET /slow')/aggregate(request/duration with sum as s,request/duration with average as a,$count as n)",
            vec![],
            vec!["s= a= n=1"],
        ),
        (
            "aggregate(client/city with countdistinct as cities,request/name with countdistinct as names,client/city with min as first)",
            vec![],
            vec!["cities=2 names=3 first=Oslo"],
        ),
        (
            "groupby((request/name))",
            vec![],
            vec![
                "request/name=GET /",
                "request/name=GET /cart",
                "request/name=GET /slow",
            ],
        ),
        (
            "groupby((request/name,request/success),aggregate($count as n))",
            vec![("$orderby", "n desc,request/name")],
            vec![
                "request/name=GET / request/success=True n=2",
                "request/name=GET /cart request/success=False n=1",
                "request/name=GET /slow request/success=False n=1",
            ],
        ),
        // Dimensions are text, and are read as numbers where they are added up.
        (
            "groupby((customDimensions/plan),aggregate(customDimensions/size with sum as size))",
            vec![("$filter", "size ge 0")],
            vec![
                "customDimensions/plan=free size=4.0",
                "customDimensions/plan=gold size=3.0",
            ],
        ),
        // A pipeline: what was made is a property of the next step.
        (
            "filter(request/duration gt 5)/groupby((request/name),aggregate(request/duration with sum as total,$count as n))\
             /compute(total div n as mean)/filter(n ge 1)/topcount(1,mean)",
            vec![],
            vec!["request/name=GET /cart total=30.0 n=1 mean=30.0"],
        ),
        (
            "groupby((request/name,client/city),aggregate($count as n))/groupby((client/city),aggregate(n with sum as n))",
            vec![("$filter", "client/city ne ''")],
            vec!["client/city=Oslo n=1", "client/city=Rome n=2"],
        ),
        // The other options come after it.
        (
            "groupby((request/name),aggregate($count as n))",
            vec![("$orderby", "n desc"), ("$top", "1"), ("$select", "n")],
            vec!["n=2"],
        ),
        (
            "groupby((request/name))",
            vec![("$skip", "2")],
            vec!["request/name=GET /slow"],
        ),
        (
            "groupby((type),aggregate($count as n))",
            vec![("type", "$all")],
            vec!["type=request n=4", "type=trace n=1"],
        ),
        // A filter on the timestamp bounds the time itself.
        (
            "filter(timestamp gt 2025-03-01T00:00:00Z)/aggregate($count as n)",
            vec![],
            vec!["n=5"],
        ),
        (
            "aggregate($count as n)",
            vec![("timespan", "P7D")],
            vec!["n=5"],
        ),
        (
            "groupby((timestamp),aggregate($count as n))/topcount(1,timestamp)",
            vec![],
            vec!["timestamp=2025-03-06T11:30:00.0000000Z n=1"],
        ),
    ] {
        let found = match f.events(&request(apply, &more)).await {
            Ok(result) => {
                assert!(result.applied);
                let names: Vec<&str> = result
                    .table
                    .columns
                    .iter()
                    .map(|column| column.name.as_str())
                    .collect();
                let named = |row: String| {
                    let cells = row.split('|').zip(&names);
                    let cells: Vec<String> =
                        cells.map(|(cell, name)| format!("{name}={cell}")).collect();
                    cells.join(" ")
                };
                rows(&result.table).into_iter().map(named).collect()
            }
            Err(error) => vec![format!("{error:?}")],
        };
        assert_eq!(found, expected, "{apply} {more:?}");
    }
}

/// Events that are chosen or added to are still events.
#[tokio::test]
async fn events_stay_events_until_they_are_aggregated() {
    let f = telemetry().await;
    let ids = async |apply: &str, more: &[(&str, &str)]| {
        let result = f.events(&request(apply, more)).await.unwrap();
        assert!(!result.applied, "{apply}");
        crate::support::column(&result.table, "itemId").join(" ")
    };
    assert_eq!(ids("filter(request/success eq true)", &[]).await, "r3 r1");
    assert_eq!(ids("topcount(2,request/duration)", &[]).await, "r2 r3");
    let made = [
        ("$filter", "seconds lt 0.025"),
        ("$orderby", "seconds desc"),
    ];
    let compute = "compute(request/duration divby 1000 as seconds)";
    assert_eq!(ids(compute, &made).await, "r3 r1");
    let result = f.events(&request(compute, &made)).await.unwrap();
    let (key, column) = result.computed.first().unwrap();
    assert_eq!(key, "seconds");
    assert_eq!(
        crate::support::column(&result.table, column),
        ["0.02", "0.01"]
    );
}

#[tokio::test]
async fn counts_and_notices_are_of_what_apply_gives() {
    let f = telemetry().await;
    let apply = "groupby((request/name))";
    let result = f
        .events(&request(apply, &[("$count", "true"), ("$top", "1")]))
        .await
        .unwrap();
    assert_eq!((result.count, result.table.rows()), (Some(3), 1));
    assert_eq!(result.messages.len(), 1, "{:?}", result.messages);
}
