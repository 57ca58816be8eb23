//! Events over a real store (`D13`, `D14`, `D16`); the translation itself has tests of its own.

use hindsight_engine::{EngineError, EventParameters, EventsParameters};
use hindsight_store::Table;

use crate::support::{Fixture, column, row};

async fn telemetry() -> Fixture {
    let f = Fixture::new().await;
    let requests = [
        row!["11:00", itemId: "r1", name: "GET /", duration: 10.0, success: "True", operation_Name: "home"],
        row!["11:10", itemId: "r2", name: "GET /cart", duration: 30.0, success: "False", operation_Name: "cart",
            customDimensions: r#"{"plan":"gold"}"#, customMeasurements: r#"{"size":7}"#],
        row!["11:20", itemId: "r3", name: "GET /", duration: 20.0, success: "True", operation_Name: "home"],
        row!["2025-03-05T11:00:00Z", itemId: "old", name: "GET /", duration: 99.0, success: "True"],
    ];
    f.put(Table::Requests, &requests).await;
    let traces = [
        row!["11:05", itemId: "t1", message: "the cart is empty", severityLevel: 3],
        row!["11:15", itemId: "t2", message: "welcome home", severityLevel: 1],
    ];
    f.put(Table::Traces, &traces).await;
    f.put(
        Table::CustomMetrics,
        &[row!["11:30", itemId: "m1", name: "queue", value: 1.0]],
    )
    .await;
    f.put_for(
        f.bank,
        Table::Requests,
        &[row!["11:00", itemId: "b1", name: "GET /bank"]],
    )
    .await;
    f
}

/// Parameters `name=value` of an events request.
fn request(event_type: &str, parameters: &[(&str, &str)]) -> EventsParameters {
    let value = |wanted: &str| {
        parameters
            .iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, v)| (*v).to_owned())
    };
    EventsParameters {
        event_type: event_type.to_owned(),
        timespan: value("timespan"),
        filter: value("$filter"),
        search: value("$search"),
        orderby: value("$orderby"),
        select: value("$select"),
        skip: value("$skip"),
        top: value("$top"),
        count: value("$count"),
        apply: value("$apply"),
    }
}

#[tokio::test]
async fn events_are_found_by_type_filter_order_and_page() {
    let f = telemetry().await;
    for (event_type, parameters, expected) in [
        ("requests", vec![], vec!["r3", "r2", "r1"]),
        ("traces", vec![], vec!["t2", "t1"]),
        ("customMetrics", vec![], vec!["m1"]),
        ("exceptions", vec![], vec![]),
        ("$all", vec![], vec!["m1", "r3", "t2", "r2", "t1", "r1"]),
        (
            "requests",
            vec![("timespan", "P7D")],
            vec!["r3", "r2", "r1", "old"],
        ),
        ("requests", vec![("timespan", "PT45M")], vec!["r3"]),
        (
            "requests",
            vec![("$filter", "timestamp ge 2025-03-01T00:00:00Z")],
            vec!["r3", "r2", "r1", "old"],
        ),
        (
            "requests",
            vec![
                ("$filter", "timestamp ge 2025-03-01T00:00:00Z"),
                ("timespan", "PT1H"),
            ],
            vec!["r3", "r2", "r1"],
        ),
        (
            "requests",
            vec![("$filter", "timestamp gt now() sub duration'PT45M'")],
            vec!["r3"],
        ),
        (
            "requests",
            vec![("$filter", "request/name eq 'GET /'")],
            vec!["r3", "r1"],
        ),
        (
            "requests",
            vec![(
                "$filter",
                "request/duration gt 15 and request/success eq true",
            )],
            vec!["r3"],
        ),
        (
            "requests",
            vec![("$filter", "customDimensions/plan eq 'gold'")],
            vec!["r2"],
        ),
        (
            "requests",
            vec![("$filter", "customMeasurements/size gt 5")],
            vec!["r2"],
        ),
        (
            "requests",
            vec![("$filter", "operation/name in ('cart','pay')")],
            vec!["r2"],
        ),
        (
            "$all",
            vec![("$filter", "trace/severityLevel ge 2")],
            vec!["t1"],
        ),
        (
            "$all",
            vec![("$filter", "request/name eq 'GET /'")],
            vec!["r3", "r1"],
        ),
        (
            "$all",
            vec![("$filter", "type eq 'trace'")],
            vec!["t2", "t1"],
        ),
        ("$all", vec![("$search", "cart")], vec!["r2", "t1"]),
        (
            "requests",
            vec![("$orderby", "request/duration")],
            vec!["r1", "r3", "r2"],
        ),
        (
            "requests",
            vec![("$orderby", "request/name desc,request/duration desc")],
            vec!["r2", "r3", "r1"],
        ),
        ("requests", vec![("$top", "2")], vec!["r3", "r2"]),
        ("requests", vec![("$top", "1"), ("$skip", "1")], vec!["r2"]),
        ("requests", vec![("$skip", "2")], vec!["r1"]),
        ("requests", vec![("$skip", "3")], vec![]),
        ("requests", vec![("$top", "0")], vec![]),
    ] {
        let found = match f.events(&request(event_type, &parameters)).await {
            Ok(result) => column(&result.table, "itemId"),
            Err(error) => vec![format!("{error:?}")],
        };
        assert_eq!(found, expected, "{event_type} {parameters:?}");
    }
}

/// `D15`: `any` and `all` over the members of a list; an exception without details has none.
#[tokio::test]
async fn lambdas_find_exceptions_by_their_details() {
    let f = Fixture::new().await;
    let details = [
        r#"[{"type":"CartError","message":"a cart broke"},{"type":"WheelError","message":"a wheel is off"}]"#,
        r#"[{"type":"IOError","message":"a disk is full"}]"#,
        "[]",
    ];
    let rows = [
        row!["11:00", itemId: "cart", details: details[0]],
        row!["11:10", itemId: "disk", details: details[1]],
        row!["11:20", itemId: "bare", details: details[2]],
        row!["11:30", itemId: "none"],
    ];
    f.put(Table::Exceptions, &rows).await;
    f.put(Table::Traces, &[row!["11:40", itemId: "trace"]])
        .await;
    for (event_type, filter, expected) in [
        (
            "exceptions",
            "exception/details/any(d: d/type eq 'WheelError')",
            "cart",
        ),
        (
            "exceptions",
            "not exception/details/any(d: d/type eq 'WheelError')",
            "none bare disk",
        ),
        ("exceptions", "exception/details/any()", "disk cart"),
        (
            "exceptions",
            "exception/details/all(d: endswith(d/type,'Error'))",
            "none bare disk cart",
        ),
        (
            "exceptions",
            "exception/details/all(d: d/type eq 'IOError') and exception/details/any()",
            "disk",
        ),
        (
            "exceptions",
            "exception/details/any(d: contains(d/message,'wheel') and id eq 'cart')",
            "cart",
        ),
        (
            "$all",
            "exception/details/any(d: d/type eq 'IOError') or type eq 'trace'",
            "trace disk",
        ),
    ] {
        let result = f.events(&request(event_type, &[("$filter", filter)])).await;
        let found = column(&result.unwrap().table, "itemId").join(" ");
        assert_eq!(found, expected, "{event_type} {filter}");
    }
    let counted = [("$filter", "exception/details/any()"), ("$count", "true")];
    let result = f.events(&request("exceptions", &counted)).await.unwrap();
    assert_eq!(result.count, Some(2));
    let apply = "filter(exception/details/any(d: d/type eq 'IOError'))/aggregate($count as n)";
    let result = f.events(&request("exceptions", &[("$apply", apply)])).await;
    assert_eq!(column(&result.unwrap().table, "n"), ["1"]);
}

/// `D14`: the count is of all matches, whatever page is shown.
#[tokio::test]
async fn counts_are_before_skip_and_top() {
    let f = telemetry().await;
    for (event_type, parameters, count, rows) in [
        (
            "requests",
            vec![("$count", "true"), ("$top", "1")],
            Some(3),
            1,
        ),
        (
            "requests",
            vec![("$count", "true"), ("$skip", "2")],
            Some(3),
            1,
        ),
        ("$all", vec![("$count", "true"), ("$top", "0")], Some(6), 0),
        (
            "requests",
            vec![("$count", "true"), ("$filter", "request/success eq true")],
            Some(2),
            2,
        ),
        ("exceptions", vec![("$count", "true")], Some(0), 0),
        ("requests", vec![("$count", "false")], None, 3),
        ("requests", vec![], None, 3),
    ] {
        let result = f.events(&request(event_type, &parameters)).await.unwrap();
        assert_eq!(
            (result.count, result.table.rows()),
            (count, rows),
            "{event_type} {parameters:?}"
        );
    }
}

#[tokio::test]
async fn added_limits_are_said() {
    let f = telemetry().await;
    let rows = (
        "AddedLimitToQuery".to_owned(),
        "The query was limited to 500 rows".to_owned(),
    );
    let time = (
        "AddedLimitToQuery".to_owned(),
        "The query was limited to last 12 hours, since no other limit for timestamp field was specified".to_owned(),
    );
    for (parameters, mut expected) in [
        (vec![], vec![rows.clone(), time.clone()]),
        (vec![("$top", "5")], vec![time.clone()]),
        (vec![("timespan", "P1D")], vec![rows.clone()]),
        (vec![("$filter", "timestamp lt now()")], vec![rows.clone()]),
        (vec![("timespan", "P1D"), ("$top", "5")], vec![]),
    ] {
        let mut messages = f
            .events(&request("requests", &parameters))
            .await
            .unwrap()
            .messages
            .clone();
        messages.sort();
        expected.sort();
        assert_eq!(messages, expected, "{parameters:?}");
    }
}

/// `D13`: five hundred, and more only where the request says so.
#[tokio::test]
async fn five_hundred_rows_are_the_default() {
    let f = Fixture::new().await;
    let rows: Vec<_> = (0..600).map(|_| row!["11:00", message: "again"]).collect();
    f.put(Table::Traces, &rows).await;
    for (parameters, expected) in [
        (vec![], 500),
        (vec![("$top", "10000")], 600),
        (vec![("$skip", "550")], 50),
    ] {
        let result = f.events(&request("traces", &parameters)).await.unwrap();
        assert_eq!(result.table.rows(), expected, "{parameters:?}");
    }
    // Pages of equal times neither repeat nor lose a row.
    let mut seen = Vec::new();
    for skip in ["0", "200", "400"] {
        let page = f
            .events(&request("traces", &[("$top", "200"), ("$skip", skip)]))
            .await
            .unwrap();
        seen.extend(column(&page.table, "itemId"));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 600);
}

#[tokio::test]
async fn selected_paths_are_handed_on() {
    let f = telemetry().await;
    let result = f
        .events(&request(
            "requests",
            &[("$select", "id,request/name,customDimensions")],
        ))
        .await
        .unwrap();
    assert_eq!(
        result.select.as_deref(),
        Some(
            &[
                "id".to_owned(),
                "request/name".to_owned(),
                "customDimensions".to_owned()
            ][..]
        )
    );
    assert_eq!(
        f.events(&request("requests", &[])).await.unwrap().select,
        None
    );
}

#[tokio::test]
async fn one_event_is_found_by_its_id() {
    let f = telemetry().await;
    let ask = |event_type: &str, id: &str, timespan: Option<&str>| EventParameters {
        event_type: event_type.to_owned(),
        id: id.to_owned(),
        timespan: timespan.map(str::to_owned),
    };
    for (parameters, found) in [
        (ask("requests", "r2", None), true),
        (ask("$all", "t1", None), true),
        (ask("requests", "old", None), true),
        (ask("requests", "old", Some("PT12H")), false),
        (ask("traces", "r2", None), false),
        (ask("requests", "nothing", None), false),
        (ask("requests", "b1", None), false),
        (ask("nothing", "r2", None), false),
        (ask("requests", "' or true or '", None), false),
    ] {
        match f.engine.event(&f.everyone(), &parameters).await {
            Ok(answer) => {
                assert!(found, "{parameters:?}");
                assert_eq!(column(&answer.table, "itemId"), [parameters.id.as_str()]);
            }
            Err(error) => {
                assert!(!found, "{parameters:?}: {error:?}");
                assert!(
                    matches!(error, EngineError::NotFound(_)),
                    "{parameters:?}: {error:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn wrong_parameters_are_named_with_their_place() {
    let f = telemetry().await;
    for (parameters, name, position) in [
        (vec![("$top", "10001")], "$top", None),
        (vec![("$top", "-1")], "$top", None),
        (vec![("$skip", "x")], "$skip", None),
        (vec![("$count", "perhaps")], "$count", None),
        (vec![("timespan", "yesterday")], "timespan", None),
        (
            vec![("$filter", "request/nothing eq 1")],
            "$filter",
            Some(0),
        ),
        (vec![("$filter", "request/name eq")], "$filter", Some(15)),
        (vec![("$orderby", "request/name up")], "$orderby", Some(13)),
        (vec![("$select", "id,nothing")], "$select", Some(3)),
        (vec![("$search", "a AND")], "$search", Some(5)),
    ] {
        match f.events(&request("requests", &parameters)).await {
            Err(EngineError::BadParameter {
                parameter,
                position: place,
                message,
            }) => {
                assert_eq!(parameter, name, "{message}");
                if position.is_some() {
                    assert_eq!(place, position, "{parameters:?}: {message}");
                }
            }
            other => panic!("{parameters:?}: {other:?}"),
        }
    }
    let unknown = f.events(&request("nothing", &[])).await;
    assert!(
        matches!(unknown, Err(EngineError::NotFound(_))),
        "{unknown:?}"
    );
}
