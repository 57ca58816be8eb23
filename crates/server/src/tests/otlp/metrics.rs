//! Metrics: differences of cumulative ones, and the limit of series.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, metric,
    number_data_point,
};
use prost::Message;
use serde_json::json;

use super::rows;
use super::sending::{JSON, PROTOBUF, now};
use crate::tests::*;

fn counted(start: u64, points: &[(u64, i64)]) -> Vec<u8> {
    let data_points = points.iter().map(|(time, value)| NumberDataPoint {
        start_time_unix_nano: start,
        time_unix_nano: *time,
        value: Some(number_data_point::Value::AsInt(*value)),
        ..NumberDataPoint::default()
    });
    let sum = Sum {
        data_points: data_points.collect(),
        aggregation_temporality: AggregationTemporality::Cumulative.into(),
        is_monotonic: true,
    };
    let metric = Metric {
        name: "orders".to_owned(),
        data: Some(metric::Data::Sum(sum)),
        ..Metric::default()
    };
    let scope_metrics = vec![ScopeMetrics {
        metrics: vec![metric],
        ..ScopeMetrics::default()
    }];
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            scope_metrics,
            ..ResourceMetrics::default()
        }],
    }
    .encode_to_vec()
}

#[tokio::test]
async fn cumulative_metrics_are_counted_once_also_over_a_restart() {
    let server = Server::start().await;
    let key = server.ikey();
    let headers = [PROTOBUF, ("x-instrumentation-key", key.as_str())];
    let (start, second) = (now(&server) - 60_000_000_000, 1_000_000_000);
    let body = counted(start, &[(start + second, 5), (start + 2 * second, 7)]);
    for _ in 0..2 {
        // The second time it is a repetition.
        let reply = server.export("/v1/metrics", &headers, body.clone()).await;
        assert_eq!((reply.status.as_u16(), reply.bytes.len()), (200, 0));
    }
    let server = server.restart().await;
    for (time, value) in [(3, 9), (4, 12)] {
        let body = counted(start, &[(start + time * second, value)]);
        assert_eq!(
            server.export("/v1/metrics", &headers, body).await.status,
            200
        );
    }
    // A sender that began after the restart is counted from its first point on.
    let begun = now(&server);
    let later = counted(begun, &[(begun + second, 4)]);
    assert_eq!(
        server.export("/v1/metrics", &headers, later).await.status,
        200
    );
    let rows = rows(&server, &server.shop, "customMetrics", &[]).await;
    let values: Vec<f64> = rows
        .iter()
        .map(|row| row["valueSum"].as_f64().unwrap())
        .collect();
    // What was counted between the last point before the restart and the first one after it is lost: 2.
    assert_eq!(values, [5.0, 2.0, 3.0, 4.0]);
}

#[tokio::test]
async fn series_are_limited() {
    let server = Server::with(|settings| settings.otlp_max_series = 1).await;
    let key = server.ikey();
    let headers = [JSON, ("x-instrumentation-key", key.as_str())];
    let time = now(&server);
    let point = |name: &str| {
        json!({"startTimeUnixNano": (time - 1000).to_string(), "timeUnixNano": time.to_string(), "asInt": 1,
        "attributes": [{"key": "name", "value": {"stringValue": name}}]})
    };
    let sum = json!({"dataPoints": [point("a"), point("b")], "aggregationTemporality": 2, "isMonotonic": true});
    let body =
        json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "m", "sum": sum}]}]}]});
    let reply = server
        .export("/v1/metrics", &headers, body.to_string().into_bytes())
        .await;
    let told = &reply.json()["partialSuccess"];
    assert_eq!(told["rejectedDataPoints"], "1");
    assert!(
        told["errorMessage"]
            .as_str()
            .unwrap()
            .contains("otlp.max_series"),
        "{told}"
    );
}
