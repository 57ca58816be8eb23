//! The demo's telemetry against what the specification can ask for.

use hindsight_kql_types::ticks::from_unix_millis;
use jiff::Timestamp;

use super::specification::specified_names;
use super::*;
use crate::demo::{self, Shop};

/// Two hours around noon, in which the shop has most visitors.
const FROM: &str = "2026-03-06T11:00:00Z";
const TO: &str = "2026-03-06T13:00:00Z";

async fn server_with_the_demo() -> Server {
    let (from, to): (Timestamp, Timestamp) = (FROM.parse().unwrap(), TO.parse().unwrap());
    let clock = TestClock::at(from_unix_millis(to.as_millisecond()).unwrap());
    let server = Server::at(clock, |settings| settings.query_rate = 1_000_000).await;
    let key = server.shop.instrumentation_key.to_string();
    let mut shop = Shop::new(&key, 1);
    for sent in demo::bodies(&mut shop, from, to) {
        let reply = server.track(sent.envelopes).await;
        assert_eq!(reply.status, 200);
        let headers = [("content-type", "application/json"), ("ikey", &key)];
        if let Some(spans) = sent.spans {
            let reply = server
                .ask(Method::POST, "/v1/traces", &headers, spans)
                .await;
            assert_eq!(
                (reply.status.as_u16(), reply.bytes.as_slice()),
                (200, b"{}".as_slice())
            );
        }
    }
    server
}

/// Whether there is a value under the metric's name, whichever it is called by.
fn has_value(reply: &Value) -> bool {
    let value = reply["value"].as_object().unwrap();
    let of_metric = value.iter().find(|(key, _)| key.contains('/'));
    let values = of_metric.and_then(|(_, values)| values.as_object());
    values.is_some_and(|values| values.values().all(Value::is_number))
}

#[tokio::test]
async fn the_demo_has_values_of_every_metric_and_dimension() {
    let server = server_with_the_demo().await;
    let metrics = specified_names("Metric ids");
    let dimensions = specified_names("Segment dimensions");
    assert!(metrics.len() >= 32 && dimensions.len() >= 16);
    for metric in metrics {
        let reply = server.get(&format!("metrics/{metric}")).await;
        assert!(has_value(&reply.json()), "{metric}: {}", reply.json());
    }
    for dimension in dimensions {
        let path = format!("metrics/requests/count?segment={dimension}");
        let reply = server.get(&path).await.json();
        let segments = reply["value"]["segments"].as_array().unwrap();
        let told = |segment: &Value| {
            !matches!(&segment[&dimension], Value::Null) && segment[&dimension] != ""
        };
        assert!(segments.iter().any(told), "{dimension}: {reply}");
    }
}

#[tokio::test]
async fn one_operation_of_the_demo_has_rows_of_both_protocols() {
    let server = server_with_the_demo().await;
    let kql = "requests | where cloud_RoleName == 'payments' \
        | join kind=inner (dependencies | project id, operation_Id, caller = cloud_RoleName, sdkVersion) \
          on $left.operation_ParentId == $right.id, operation_Id \
        | where sdkVersion startswith 'otlp_python' and sdkVersion1 startswith 'dotnet' | summarize count() by caller";
    let reply = server.query(kql).await.json();
    let rows = reply["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{reply}");
    assert_eq!(rows[0][0], "orders");
}
