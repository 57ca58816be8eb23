//! Samples of every base type against the rows that they give.

use hindsight_ingest::{Decoded, ItemRules, KeyRefusal, Sender, decode, split};
use hindsight_kql_types::datetime;
use hindsight_rows::{AppColumns, Owner, Window};
use hindsight_store::Table;
use serde_json::{Value, json};

use crate::wire::cell::{Cells, DynamicForm};

const IKEY: &str = "aaaaaaaa-0000-0000-0000-000000000001";
const OTHER: &str = "bbbbbbbb-0000-0000-0000-000000000002";
const NOW: &str = "2025-06-02T12:00:00Z";

/// The application whose id is its instrumentation key.
fn owner(key: &'static str) -> Owner<'static> {
    Owner {
        app: key.parse().unwrap(),
        columns: AppColumns {
            id: key,
            name: "shop",
            ikey: key,
            resource_id: "/hindsight/apps/shop",
        },
    }
}

fn decode_text(body: &str) -> Decoded {
    let rules = ItemRules {
        clock_is_trusted: true,
        window: Window {
            now: datetime::parse(NOW).unwrap(),
            max_age: 48 * 36_000_000_000,
            max_ahead: 6_000_000_000,
        },
        max_item_bytes: 65_536,
    };
    let sender = Sender {
        address: "198.51.100.7".to_owned(),
        user_agent: "curl/8.1".to_owned(),
    };
    let find = |key: &str| {
        let known = [IKEY, OTHER].into_iter().find(|known| *known == key);
        known.map(owner).ok_or(KeyRefusal::Unknown)
    };
    decode(
        &split(body.as_bytes(), usize::MAX).0,
        &rules,
        &sender,
        &find,
    )
    .unwrap()
}

fn envelope(base_type: &str, base_data: Value) -> Value {
    json!({"time": NOW, "iKey": IKEY, "tags": {}, "data": {"baseType": base_type, "baseData": base_data}})
}

/// The one row of a decoded batch as an object of its columns.
fn row_of(item: &Value) -> (Table, Value) {
    let decoded = decode_text(&item.to_string());
    assert_eq!(decoded.errors, [], "{item}");
    let (table, batch) = decoded.apps[0].batches[0].clone();
    let mut row = serde_json::Map::new();
    for (column, array) in table.columns().iter().zip(batch.columns()) {
        let mut text = String::new();
        Cells::new(column.scalar_type, array).write(0, DynamicForm::Nested, &mut text);
        row.insert(column.name.to_owned(), serde_json::from_str(&text).unwrap());
    }
    (table, Value::Object(row))
}

/// The columns that `expected` names have the values that it gives.
fn check(item: Value, table: Table, expected: Value) {
    let (found, row) = row_of(&item);
    assert_eq!(found, table, "{item}");
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(row.get(name), Some(value), "{table}.{name} of {item}");
    }
}

/// The one refusal of a body.
fn check_refused(item: Value, message: &str) {
    let decoded = decode_text(&item.to_string());
    assert!(decoded.apps.is_empty(), "{item}");
    assert_eq!(
        (decoded.errors[0].status, decoded.errors[0].message.as_str()),
        (400, message),
        "{item}"
    );
}

#[test]
fn requests() {
    let data = json!({"id": "r1", "name": "GET /cart", "duration": "00:00:00.750", "responseCode": 503, "success": false,
        "url": "http://shop/cart", "source": "web", "properties": {"plan": "pro", "n": 3}, "measurements": {"ms": "2.5", "whole": 3, "also": 4.0, "bad": "x"}});
    check(
        envelope("RequestData", data),
        Table::Requests,
        json!({"id": "r1", "name": "GET /cart", "duration": 750, "resultCode": "503", "success": "False",
            "url": "http://shop/cart", "source": "web", "performanceBucket": "500ms-1sec", "itemType": "request",
            "customDimensions": {"plan": "pro", "n": "3"}, "customMeasurements": {"ms": 2.5, "whole": 3, "also": 4}, "itemCount": 1,
            "appName": "shop", "iKey": IKEY, "appId": IKEY, "_ResourceId": "/hindsight/apps/shop",
            "timestamp": "2025-06-02T12:00:00Z"}),
    );
}

#[test]
fn dependencies() {
    let data = json!({"id": "d1", "name": "SELECT", "duration": "0.00:00:00.018", "resultCode": "0", "success": true,
        "data": "select 1", "target": "db", "type": null});
    check(
        envelope("RemoteDependencyData", data),
        Table::Dependencies,
        json!({"id": "d1", "duration": 18, "success": "True", "data": "select 1", "target": "db", "type": "",
            "performanceBucket": "<250ms", "customDimensions": null, "customMeasurements": null}),
    );
}

#[test]
fn traces() {
    let check_severity = |severity: Value, expected: Value| {
        let data = json!({"message": "hello", "severityLevel": severity});
        check(
            envelope("MessageData", data),
            Table::Traces,
            json!({"message": "hello", "severityLevel": expected}),
        );
    };
    check_severity(json!(2), json!(2));
    check_severity(json!("Error"), json!(3));
    check_severity(json!(null), json!(null));
}

#[test]
fn exceptions() {
    let frame = json!({"level": 0, "method": "Shop.Cart.Add", "assembly": "Shop", "fileName": "cart.cs", "line": 7});
    let chain = json!([
        {"id": 1, "typeName": "OuterError", "message": "outer", "parsedStack": [frame]},
        {"id": 2, "outerId": 1, "typeName": "InnerError", "message": "inner", "stack": "at x"},
    ]);
    check(
        envelope(
            "ExceptionData",
            json!({"exceptions": chain, "severityLevel": "Critical"}),
        ),
        Table::Exceptions,
        json!({"type": "OuterError", "message": "outer", "method": "Shop.Cart.Add", "assembly": "Shop",
            "outerType": "OuterError", "innermostType": "InnerError", "innermostMessage": "inner", "severityLevel": 4,
            "problemId": "OuterError at Shop.Cart.Add",
            "details": [
                {"severityLevel": "Critical", "outerId": "0", "message": "outer", "type": "OuterError", "id": "1", "parsedStack": [
                    {"assembly": "Shop", "method": "Shop.Cart.Add", "level": 0, "line": 7, "fileName": "cart.cs"}]},
                {"severityLevel": "Critical", "outerId": "1", "message": "inner", "type": "InnerError", "id": "2", "rawStack": "at x"}]}),
    );
}

#[test]
fn events_and_pages() {
    check(
        envelope("EventData", json!({"name": "Signup"})),
        Table::CustomEvents,
        json!({"name": "Signup"}),
    );
    for spelling in ["PageViewData", "PageviewData"] {
        let data = json!({"name": "Home", "url": "http://shop/", "duration": 321});
        check(
            envelope(spelling, data),
            Table::PageViews,
            json!({"name": "Home", "duration": 321, "performanceBucket": "250ms-500ms"}),
        );
    }
}

#[test]
fn browser_timings() {
    for spelling in ["PageViewPerfData", "PageviewPerformanceData"] {
        let data = json!({"name": "Home", "perfTotal": "00:00:00.300", "networkConnect": "00:00:00.010",
            "sentRequest": "00:00:00.100", "receivedResponse": "00:00:00.050", "domProcessing": "00:00:00.140"});
        check(
            envelope(spelling, data),
            Table::BrowserTimings,
            json!({"totalDuration": 300, "networkDuration": 10, "sendDuration": 100, "receiveDuration": 50, "processingDuration": 140}),
        );
    }
}

#[test]
fn availability() {
    let data = json!({"id": "a", "name": "ping", "duration": "00:00:01", "success": true, "runLocation": "Oslo", "message": "Passed"});
    check(
        envelope("AvailabilityData", data),
        Table::AvailabilityResults,
        json!({"success": "1", "location": "Oslo", "message": "Passed", "duration": 1000, "size": null}),
    );
}

#[test]
fn metrics_of_every_kind() {
    let check_metric = |point: Value, expected: Value| {
        check(
            envelope("MetricData", json!({"metrics": [point]})),
            Table::CustomMetrics,
            expected,
        );
    };
    check_metric(
        json!({"name": "queue", "kind": 1, "value": 42, "count": 5, "min": 1, "max": 50, "stdDev": 2.5}),
        json!({"name": "queue", "value": 8.4, "valueSum": 42, "valueCount": 5, "valueMin": 1, "valueMax": 50, "valueStdDev": 2.5}),
    );
    check_metric(
        json!({"name": "temp", "value": 21.5}),
        json!({"value": 21.5, "valueSum": 21.5, "valueCount": 1, "valueMin": 21.5, "valueMax": 21.5, "valueStdDev": 0}),
    );
    let counter = json!({"metrics": [{"name": "\\Process(w3wp)\\Private Bytes", "value": 7}]});
    check(
        envelope("MetricData", counter),
        Table::PerformanceCounters,
        json!({"category": "Process", "counter": "Private Bytes", "instance": "w3wp", "name": "Private Bytes", "value": 7}),
    );
    let summed =
        json!({"metrics": [{"name": "\\Process(w3wp)\\Private Bytes", "value": 42, "count": 4}]});
    check(
        envelope("MetricData", summed),
        Table::PerformanceCounters,
        json!({"name": "Private Bytes", "value": 10.5}),
    );
}

#[test]
fn tags_fill_the_context() {
    let mut item = envelope("EventData", json!({"name": "x"}));
    item["sampleRate"] = json!(25);
    item["tags"] = json!({"ai.operation.id": "op", "ai.operation.parentId": "p", "ai.user.authUserId": "alice",
        "ai.cloud.role": "web", "ai.location.ip": "203.0.113.9", "ai.unknown": "ignored", "ai.application.ver": 2});
    check(
        item,
        Table::CustomEvents,
        json!({"operation_Id": "op", "operation_ParentId": "p", "user_AuthenticatedId": "alice", "cloud_RoleName": "web",
            "client_IP": "203.0.113.0", "application_Version": "2", "itemCount": 4, "client_Type": "PC", "client_Browser": ""}),
    );
    check(
        envelope("EventData", json!({"name": "x"})),
        Table::CustomEvents,
        json!({"client_IP": "198.51.100.0"}),
    );
}

#[test]
fn tags_of_dimensions_without_a_column_become_properties() {
    let mut item = envelope(
        "EventData",
        json!({"name": "x", "properties": {"ai.cloud.environment": "own"}}),
    );
    item["tags"] = json!({"ai.application.build": "417", "ai.cloud.environment": "production",
        "ai.cloud.location": "norwayeast", "ai.cloud.deploymentUnit": "blue", "ai.cloud.roleVer": "ignored"});
    check(
        item,
        Table::CustomEvents,
        json!({"customDimensions": {"ai.cloud.environment": "own", "ai.application.build": "417",
            "ai.cloud.location": "norwayeast", "ai.cloud.deploymentUnit": "blue"}}),
    );
}

#[test]
fn base_data_may_precede_base_type() {
    let text = format!(
        r#"{{"data":{{"baseData":{{"name":"E"}},"baseType":"EventData"}},"time":"{NOW}","iKey":"{IKEY}"}}"#
    );
    let decoded = decode_text(&text);
    assert_eq!((decoded.errors.len(), decoded.apps.len()), (0, 1));
}

#[test]
fn long_texts_are_cut() {
    let data = json!({"name": "n".repeat(600), "properties": {"k".repeat(200): "v".repeat(9000)}});
    let (_, row) = row_of(&envelope("EventData", data));
    assert_eq!(row["name"].as_str().unwrap().len(), 512);
    let (key, value) = row["customDimensions"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert_eq!((key.len(), value.as_str().unwrap().len()), (150, 8192));
}

#[test]
fn times_outside_the_window_are_refused_as_recorded() {
    let at = |time: Value| {
        let mut item = envelope("EventData", json!({"name": "x"}));
        item["time"] = time;
        item
    };
    check_refused(
        at(json!("2025-05-30T12:00:00Z")),
        "103: Field 'time' on type 'Envelope' is older than the allowed min date. Expected: now - 172800000ms, Actual: now - 259200000ms",
    );
    check_refused(
        at(json!("2025-06-02T12:20:00Z")),
        "104: Field 'time' on type 'Envelope' is newer than the allowed max date. Expected: now + 600000ms, Actual: now + 1200000ms",
    );
    check_refused(
        at(json!("fake")),
        "102: Field 'time' on type 'Envelope' is not a valid time string. Expected: date, Actual: fake",
    );
    check_refused(
        at(json!(null)),
        "109: Field 'time' on type 'Envelope' is required but missing or empty. Expected: string, Actual: undefined",
    );
}

#[test]
fn one_bad_item_costs_only_itself() {
    let good = envelope("EventData", json!({"name": "x"}));
    let mut foreign = good.clone();
    foreign["iKey"] = json!("cccccccc-0000-0000-0000-000000000003");
    let mut other = good.clone();
    other["iKey"] = json!(OTHER);
    let unknown = envelope("NoData", json!({}));
    let body = format!("[{good},{foreign},{other},{unknown},{{\"a\":1e400}},{good}]");
    let decoded = decode_text(&body);
    assert_eq!(decoded.received, 6);
    let items: Vec<_> = decoded.apps.iter().map(|app| app.items.clone()).collect();
    assert_eq!(items, [vec![0, 5], vec![2]]);
    let failed: Vec<_> = decoded.errors.iter().map(|error| error.index).collect();
    assert_eq!(failed, [1, 3, 4]);
    assert_eq!(decoded.errors[0].message, "Invalid instrumentation key");
}

#[test]
fn an_item_that_is_too_large_is_refused() {
    let item = envelope("MessageData", json!({"message": "m".repeat(70_000)}));
    let decoded = decode_text(&item.to_string());
    assert!(
        decoded.errors[0].message.contains("65536"),
        "{:?}",
        decoded.errors
    );
}
