//! The protocol: forms, encodings, statuses, limits, and whose telemetry it is.

use std::io::Write;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, metric,
    number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, span};
use prost::Message;
use serde_json::json;

use super::rows;
use crate::app::{create_app, create_key_with};
use crate::tests::*;

/// Headers of a request.
type Headers<'h> = Vec<(&'h str, &'h str)>;

const PROTOBUF: (&str, &str) = ("content-type", "application/x-protobuf");
const JSON: (&str, &str) = ("content-type", "application/json");
const GRPC: (&str, &str) = ("content-type", "application/grpc");
const TRACES: &str = "/v1/traces";
const SERVICE: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// Nanoseconds since 1970 of the server's time.
fn now(server: &Server) -> u64 {
    let ticks = server.app.now() - 621_355_968_000_000_000;
    u64::try_from(ticks).unwrap() * 100
}

fn text(key: &str, value: &str) -> KeyValue {
    let value = any_value::Value::StringValue(value.to_owned());
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

fn a_span(start: u64, number: u8) -> Span {
    Span {
        trace_id: vec![7; 16],
        span_id: vec![number; 8],
        name: "work".to_owned(),
        kind: span::SpanKind::Server.into(),
        start_time_unix_nano: start,
        end_time_unix_nano: start.saturating_add(1_000_000),
        ..Span::default()
    }
}

/// A request of spans, with attributes of its resource.
fn spans(attributes: Vec<KeyValue>, spans: Vec<Span>) -> ExportTraceServiceRequest {
    let resource = Resource {
        attributes,
        ..Resource::default()
    };
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(resource),
            scope_spans: vec![ScopeSpans {
                spans,
                ..ScopeSpans::default()
            }],
            ..ResourceSpans::default()
        }],
    }
}

fn snappy_stream(plain: &[u8]) -> Vec<u8> {
    let mut encoder = snap::write::FrameEncoder::new(Vec::new());
    encoder.write_all(plain).unwrap();
    encoder.into_inner().unwrap()
}

/// The bytes of a gRPC request.
fn framed(compressed: bool, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[u8::from(compressed)], length.as_slice(), message].concat()
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

impl Server {
    fn ikey(&self) -> String {
        self.shop.instrumentation_key.to_string()
    }

    async fn export(&self, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Reply {
        self.ask(Method::POST, path, headers, body).await
    }

    async fn rows_of(&self, table: &str) -> usize {
        rows(self, &self.shop, table, &[]).await.len()
    }
}

#[tokio::test]
async fn every_form_and_encoding_gives_the_same_rows() {
    let server = Server::start().await;
    let time = now(&server);
    let key = server.ikey();
    let key = ("x-instrumentation-key", key.as_str());
    let message = spans(vec![text("service.name", "shop")], vec![a_span(time, 1)]);
    let plain = message.encode_to_vec();
    let start = time.to_string();
    let json = json!({"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "instrumentationLibrarySpans": [{"spans": [{"traceId": "07".repeat(16), "spanId": "01".repeat(8), "name": "work", "kind": "SPAN_KIND_SERVER",
            "startTimeUnixNano": start, "endTimeUnixNano": (time + 1_000_000), "unknown": {"a": [1]}, "status": null}]}]}]});
    let zstd = zstd::encode_all(plain.as_slice(), 1).unwrap();
    let cases: Vec<(&str, Headers<'_>, Vec<u8>)> = vec![
        (TRACES, vec![PROTOBUF], plain.clone()),
        (
            TRACES,
            vec![PROTOBUF, ("content-encoding", "gzip")],
            gzip(&plain),
        ),
        (
            TRACES,
            vec![PROTOBUF, ("content-encoding", "zstd")],
            zstd.clone(),
        ),
        (
            TRACES,
            vec![PROTOBUF, ("content-encoding", "snappy")],
            snap::raw::Encoder::new().compress_vec(&plain).unwrap(),
        ),
        (
            TRACES,
            vec![PROTOBUF, ("content-encoding", "snappy")],
            snappy_stream(&plain),
        ),
        ("//v1/traces", vec![PROTOBUF], plain.clone()),
        (TRACES, vec![JSON], json.to_string().into_bytes()),
        (SERVICE, vec![GRPC], framed(false, &plain)),
        (
            SERVICE,
            vec![GRPC, ("grpc-encoding", "gzip")],
            framed(true, &gzip(&plain)),
        ),
        (
            SERVICE,
            vec![GRPC, ("grpc-encoding", "snappy")],
            framed(true, &snappy_stream(&plain)),
        ),
        (
            SERVICE,
            vec![
                ("content-type", "application/grpc+proto"),
                ("grpc-encoding", "zstd"),
            ],
            framed(true, &zstd),
        ),
    ];
    let sent = cases.len();
    for (path, mut headers, body) in cases {
        headers.push(key);
        let reply = server.export(path, &headers, body).await;
        assert_eq!(reply.status, 200, "{headers:?}");
        let expected: &[u8] = match headers[0].1 {
            "application/x-protobuf" => b"",
            "application/json" => b"{}",
            _ => &[0, 0, 0, 0, 0],
        };
        assert_eq!(reply.bytes, expected, "{headers:?}");
    }
    let rows = rows(&server, &server.shop, "requests", &["itemId", "timestamp"]).await;
    assert_eq!(rows.len(), sent);
    assert!(rows.iter().all(|row| *row == rows[0]), "{rows:?}");
    assert_eq!(
        (
            &rows[0]["name"],
            &rows[0]["duration"],
            &rows[0]["operation_Id"]
        ),
        (&json!("work"), &json!(1), &json!("07".repeat(16)))
    );
}

#[tokio::test]
async fn grpc_tells_its_status_in_trailers() {
    let server = Server::start().await;
    let key = server.ikey();
    let request = Request::post(SERVICE)
        .header(GRPC.0, GRPC.1)
        .header("x-instrumentation-key", &key)
        .body(Body::from(framed(false, b"")))
        .unwrap();
    let reply = server.router.clone().oneshot(request).await.unwrap();
    let whole = http_body_util::BodyExt::collect(reply.into_body())
        .await
        .unwrap();
    let trailers = whole.trailers().expect("trailers");
    assert_eq!(trailers.get("grpc-status").unwrap(), "0");
}

#[tokio::test]
async fn refusals_have_the_form_of_the_request() {
    let server = Server::with(|settings| {
        settings.ingest_max_body_bytes = 4_000;
        settings.ingest_max_decompressed_bytes = 10_000;
        settings.ingest_max_items = 2;
    })
    .await;
    let key = server.ikey();
    let key = ("x-instrumentation-key", key.as_str());
    let none = spans(vec![], vec![a_span(now(&server), 1)]).encode_to_vec();
    let many = spans(vec![], (1..=3).map(|n| a_span(now(&server), n)).collect()).encode_to_vec();
    let bomb = gzip(&vec![0; 1 << 20]);
    let gzipped = ("content-encoding", "gzip");
    let unknown = (
        "x-instrumentation-key",
        "11111111-2222-3333-4444-555555555555",
    );
    let cases: Vec<(Headers<'_>, Vec<u8>, u16, &str)> = vec![
        (vec![key], b"\x0a\xff\xff\xff\xff\x07".to_vec(), 400, "3"),
        (vec![key], b"\x0b\x0c".to_vec(), 400, "3"),
        (vec![], none.clone(), 401, "16"),
        (
            vec![("x-api-key", "hs_0123456789_wrong")],
            none.clone(),
            403,
            "7",
        ),
        (vec![unknown], none.clone(), 403, "7"),
        (vec![key], vec![0; 5_000], 413, "8"),
        (vec![key], many, 413, "8"),
        (vec![key, gzipped], bomb, 413, "8"),
    ];
    for (headers, body, status, code) in cases {
        let mut form = vec![PROTOBUF];
        form.extend(&headers);
        let reply = server.export(TRACES, &form, body.clone()).await;
        let told = tonic_types::Status::decode(reply.bytes.as_slice()).unwrap();
        assert_eq!(
            (reply.status.as_u16(), told.code.to_string().as_str()),
            (status, code),
            "{}",
            told.message
        );
        assert_eq!(reply.header("content-type"), "application/x-protobuf");
        let is_packed = headers.contains(&gzipped);
        let mut form = vec![GRPC];
        form.extend(headers.iter().filter(|header| **header != gzipped));
        if is_packed {
            form.push(("grpc-encoding", "gzip"));
        }
        let reply = server
            .export(SERVICE, &form, framed(is_packed, &body))
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("grpc-status")),
            (200, code),
            "{form:?}"
        );
        assert_eq!(
            reply.header("grpc-status-details-bin"),
            "",
            "nothing to wait for"
        );
    }
    let reply = server
        .export(TRACES, &[JSON, key], b"{\"resourceSpans\": 1}".to_vec())
        .await;
    assert_eq!(
        (reply.status.as_u16(), &reply.json()["code"]),
        (400, &json!(3)),
        "{}",
        reply.json()
    );
    for media in [("content-type", "text/plain"), ("accept", "x")] {
        assert_eq!(
            server
                .export(TRACES, &[media, key], none.clone())
                .await
                .status,
            415
        );
    }
    let unknown = server
        .export(
            TRACES,
            &[PROTOBUF, key, ("content-encoding", "lz4")],
            none.clone(),
        )
        .await;
    assert_eq!(unknown.status, 415);
    let unknown = server
        .export(
            SERVICE,
            &[GRPC, key, ("grpc-encoding", "lz4")],
            framed(true, &none),
        )
        .await;
    assert_eq!(
        (
            unknown.header("grpc-status"),
            unknown.header("grpc-accept-encoding")
        ),
        ("12", "identity,gzip,deflate,zstd,snappy")
    );
    assert_eq!(server.rows_of("requests").await, 0);
    // Nothing in a request is no error.
    assert_eq!(
        server.export(TRACES, &[PROTOBUF, key], vec![]).await.status,
        200
    );
}

#[tokio::test]
async fn settings_add_semantic_attributes_and_those_of_resources_to_the_dimensions() {
    let resource = || {
        vec![
            text("service.name", "shop"),
            text("deployment.environment.name", "test"),
            text("own", "resource"),
        ]
    };
    let cases = [
        (false, "none", json!({"own": "span"})),
        (true, "none", json!({"own": "span", "http.route": "/cart"})),
        (
            false,
            "own, deployment.environment.name",
            json!({"own": "span", "deployment.environment.name": "test"}),
        ),
        (
            false,
            "all",
            json!({"own": "span", "service.name": "shop", "deployment.environment.name": "test"}),
        ),
    ];
    for (keep, selection, expected) in cases {
        let server = Server::with(|settings| {
            settings.otlp_keep_semantic_attributes = keep;
            settings.set("otlp.resource_dimensions", selection).unwrap();
        })
        .await;
        let key = server.ikey();
        let mut attributes = resource();
        attributes.push(text("microsoft.instrumentation_key", &key));
        let mut span = a_span(now(&server), 1);
        span.attributes = vec![text("http.route", "/cart"), text("own", "span")];
        let body = spans(attributes, vec![span]).encode_to_vec();
        let reply = server.export(TRACES, &[PROTOBUF], body).await;
        assert_eq!(reply.status, 200);
        let rows = rows(&server, &server.shop, "requests", &[]).await;
        let found: Value =
            serde_json::from_str(rows[0]["customDimensions"].as_str().unwrap()).unwrap();
        assert_eq!(found, expected, "{keep} {selection}");
    }
}

#[tokio::test]
async fn a_spent_cap_and_a_full_store_are_to_be_sent_again() {
    let server = Server::start().await;
    let key = server.ikey();
    let key = ("ikey", key.as_str());
    let body = spans(vec![], vec![a_span(now(&server), 1)]).encode_to_vec();
    let tier = hindsight_store::Tier::Basic;
    let catalogue = server.app.store.catalogue();
    catalogue
        .set_app_limits(server.shop.id, tier, Some(1), None)
        .await
        .unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(
        server
            .export(TRACES, &[PROTOBUF, key], body.clone())
            .await
            .status,
        200
    );
    let reply = server.export(TRACES, &[PROTOBUF, key], body.clone()).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("retry-after")),
        (429, "5")
    );
    let reply = server
        .export(SERVICE, &[GRPC, key], framed(false, &body))
        .await;
    assert_eq!(reply.header("grpc-status"), "8");
    assert_ne!(
        reply.header("grpc-status-details-bin"),
        "",
        "when to come back"
    );
}

#[tokio::test]
async fn what_is_refused_in_part_is_counted_and_named() {
    let server = Server::start().await;
    let key = server.ikey();
    let key = ("x-ms-instrumentationkey", key.as_str());
    let time = now(&server);
    let mut without_id = a_span(time, 2);
    without_id.trace_id = vec![0; 16];
    let mut large = a_span(time, 3);
    large.attributes = vec![text("a", &"x".repeat(70_000))];
    let mut long = a_span(time, 4);
    long.attributes = vec![text("gen_ai.input.messages", &"x".repeat(200_000))];
    let message = spans(
        vec![],
        vec![
            a_span(0, 1),
            without_id,
            large,
            long,
            a_span(u64::MAX, 5),
            a_span(time, 6),
        ],
    );
    let reply = server
        .export(TRACES, &[PROTOBUF, key], message.encode_to_vec())
        .await;
    let told = ExportTraceServiceResponse::decode(reply.bytes.as_slice()).unwrap();
    let told = told.partial_success.unwrap();
    assert_eq!((reply.status.as_u16(), told.rejected_spans), (200, 4));
    assert!(
        told.error_message.contains("ingest.max_age"),
        "{}",
        told.error_message
    );
    let rows = rows(&server, &server.shop, "requests", &[]).await;
    assert_eq!(rows.len(), 2);
    let kept: Value = serde_json::from_str(rows[0]["customDimensions"].as_str().unwrap()).unwrap();
    assert_eq!(
        kept["gen_ai.input.messages"].as_str().unwrap().len(),
        200_000
    );

    // An event that is too large is told, but its span is stored.
    let mut span = a_span(time, 7);
    span.events = vec![span::Event {
        time_unix_nano: time,
        name: "x".repeat(70_000),
        ..span::Event::default()
    }];
    let reply = server
        .export(
            SERVICE,
            &[GRPC, key],
            framed(false, &spans(vec![], vec![span]).encode_to_vec()),
        )
        .await;
    let told = ExportTraceServiceResponse::decode(&reply.bytes[5..]).unwrap();
    let told = told.partial_success.unwrap();
    assert_eq!(told.rejected_spans, 0);
    assert!(
        told.error_message.contains("span event"),
        "{}",
        told.error_message
    );
}

#[tokio::test]
async fn the_first_way_that_names_an_application_counts() {
    let server =
        Server::with(|settings| settings.otlp_application = Some("default".to_owned())).await;
    let (catalogue, time) = (server.app.store.catalogue(), server.app.now());
    let mut apps = Vec::new();
    for name in ["key", "header", "second", "url", "resource", "default"] {
        apps.push(create_app(catalogue, name, time).await.unwrap());
    }
    let ikeys: Vec<String> = apps
        .iter()
        .map(|app| app.instrumentation_key.to_string())
        .collect();
    let rights = hindsight_identity::Rights::parse("ingest").unwrap();
    let (_, api_key) = create_key_with(catalogue, apps[0].id, "", rights, time, None)
        .await
        .unwrap();
    let of_resource = vec![text("ai.instrumentationKey", &ikeys[4])];
    let mut headers = vec![
        ("x-api-key", api_key.as_str()),
        ("x-instrumentation-key", ikeys[1].as_str()),
        ("x-ms-instrumentationkey", ikeys[2].as_str()),
    ];
    let mut path = format!("{TRACES}?ikey={}", ikeys[3]);
    let mut attributes = of_resource;
    for (place, app) in apps.iter().enumerate() {
        let mut sent = headers.clone();
        sent.push(PROTOBUF);
        let body = spans(attributes.clone(), vec![a_span(now(&server), 1)]).encode_to_vec();
        let reply = server.export(&path, &sent, body).await;
        assert_eq!(
            (reply.status.as_u16(), reply.bytes.len()),
            (200, 0),
            "{}",
            app.name
        );
        assert_eq!(
            rows(&server, app, "requests", &[]).await.len(),
            1,
            "{}",
            app.name
        );
        match place {
            0..=2 => drop(headers.remove(0)),
            3 => path = TRACES.to_owned(),
            _ => attributes.clear(),
        }
    }
    // A key that may only read names no application, and one for another application permits nothing.
    let reading = ("x-api-key", server.key.as_str());
    let shop = server.ikey();
    let body = spans(vec![], vec![a_span(now(&server), 1)]).encode_to_vec();
    let reply = server
        .export(TRACES, &[PROTOBUF, reading, ("ikey", &shop)], body)
        .await;
    assert_eq!(reply.status, 403);
}

#[tokio::test]
async fn one_request_feeds_several_applications() {
    let server = Server::start().await;
    let other = create_app(server.app.store.catalogue(), "other", server.app.now())
        .await
        .unwrap();
    let of = |key: &str, number| {
        let attributes = vec![text("microsoft.instrumentation_key", key)];
        spans(attributes, vec![a_span(now(&server), number)]).resource_spans
    };
    let unknown = "11111111-2222-3333-4444-555555555555";
    let other_key = other.instrumentation_key.to_string();
    let resource_spans = [of(&server.ikey(), 1), of(&other_key, 2), of(unknown, 3)].concat();
    let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
    let reply = server.export(TRACES, &[PROTOBUF], body).await;
    let told = ExportTraceServiceResponse::decode(reply.bytes.as_slice()).unwrap();
    let told = told.partial_success.unwrap();
    assert_eq!(
        (told.rejected_spans, told.error_message.as_str()),
        (1, "Invalid instrumentation key")
    );
    for app in [&server.shop, &other] {
        assert_eq!(
            rows(&server, app, "requests", &[]).await.len(),
            1,
            "{}",
            app.name
        );
    }
}

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

#[tokio::test]
async fn browsers_may_send_spans() {
    let server = Server::start().await;
    let headers = [
        ("origin", "http://shop.example"),
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "content-type,x-instrumentation-key",
        ),
    ];
    let reply = server
        .ask(Method::OPTIONS, TRACES, &headers, Body::empty())
        .await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), "*");
    assert_eq!(
        reply.header("access-control-allow-headers"),
        "content-type,x-instrumentation-key"
    );
    let key = server.ikey();
    let agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36";
    let body = spans(
        vec![text("telemetry.sdk.language", "webjs")],
        vec![a_span(now(&server), 1)],
    );
    let sent = [
        PROTOBUF,
        ("ikey", key.as_str()),
        ("origin", "http://shop.example"),
        ("user-agent", agent),
    ];
    assert_eq!(
        server
            .export(TRACES, &sent, body.encode_to_vec())
            .await
            .status,
        200
    );
    let row = rows(&server, &server.shop, "requests", &[]).await.remove(0);
    assert_eq!(
        (
            &row["client_Type"],
            &row["client_Browser"],
            &row["client_OS"]
        ),
        (
            &json!("Browser"),
            &json!("Chrome 119.0"),
            &json!("Windows 10")
        )
    );
}

/// Attack 41 and its like: what a payload claims costs nothing, and nothing breaks.
#[tokio::test]
async fn hostile_payloads_are_refused_or_clamped() {
    let server = Server::start().await;
    let key = server.ikey();
    let headers = [PROTOBUF, ("x-instrumentation-key", key.as_str())];
    // A million empty spans, resources, attributes of a resource.
    let empty = |tag: u8, count: usize| [tag, 0].repeat(count);
    let within = |tag: u8, inner: Vec<u8>| {
        let mut out = vec![tag];
        prost::encoding::encode_varint(inner.len() as u64, &mut out);
        [out, inner].concat()
    };
    let million = 1 << 20;
    for (body, status) in [
        (within(0x0a, within(0x12, empty(0x12, million))), 413),
        (empty(0x0a, million), 413),
        (within(0x0a, within(0x0a, empty(0x0a, million))), 200),
        (
            within(0x0a, within(0x12, within(0x12, empty(0x4a, million)))),
            200,
        ),
        (
            within(0x0a, within(0x12, within(0x12, empty(0x5a, million)))),
            413,
        ),
        (vec![0x0a, 0x80, 0x80, 0x80, 0x80, 0x08], 400),
    ] {
        assert_eq!(server.export(TRACES, &headers, body).await.status, status);
    }
    // A name that is not UTF-8.
    let mut span = a_span(now(&server), 1).encode_to_vec();
    let name = span.windows(4).position(|part| part == b"work").unwrap();
    span[name] = 0xff;
    let body = within(0x0a, within(0x12, within(0x12, span)));
    assert_eq!(server.export(TRACES, &headers, body).await.status, 400);
    // Parents that form a circle, and a span that is its own parent.
    let mut circle: Vec<Span> = (1..=3).map(|number| a_span(now(&server), number)).collect();
    for (span, parent) in circle.iter_mut().zip([2_u8, 1, 3]) {
        span.kind = span::SpanKind::Internal.into();
        span.parent_span_id = vec![parent; 8];
    }
    let body = spans(vec![], circle).encode_to_vec();
    assert_eq!(server.export(TRACES, &headers, body).await.status, 200);
    assert_eq!(server.rows_of("dependencies").await, 3);
    // JSON that is nested without end.
    let deep = format!("{{\"resourceSpans\":{}", "[".repeat(100_000));
    let reply = server
        .export(TRACES, &[JSON, headers[1]], deep.into_bytes())
        .await;
    assert_eq!(reply.status, 400);
    // A resource's name in each of many rows: more memory than there is for all.
    let name = "n".repeat(1000);
    let scope_logs = vec![ScopeLogs {
        log_records: vec![LogRecord::default(); 60_000],
        ..ScopeLogs::default()
    }];
    let logs = ExportLogsServiceRequest {
        resource_logs: vec![ResourceLogs {
            resource: Some(Resource {
                attributes: vec![
                    text("service.name", &name),
                    text("host.name", &name),
                    text("service.version", &name),
                ],
                ..Resource::default()
            }),
            scope_logs,
            ..ResourceLogs::default()
        }],
    };
    let reply = server
        .export("/v1/logs", &headers, logs.encode_to_vec())
        .await;
    assert!(
        [200, 413, 503].contains(&reply.status.as_u16()),
        "{}",
        reply.status
    );
}
