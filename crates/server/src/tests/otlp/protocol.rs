//! The protocol: forms, encodings, statuses, and settings.

use std::io::Write;

use prost::Message;
use serde_json::json;

use super::rows;
use super::sending::{
    GRPC, Headers, JSON, PROTOBUF, SERVICE, TRACES, a_span, framed, gzip, now, spans, text,
};
use crate::tests::*;

fn snappy_stream(plain: &[u8]) -> Vec<u8> {
    let mut encoder = snap::write::FrameEncoder::new(Vec::new());
    encoder.write_all(plain).unwrap();
    encoder.into_inner().unwrap()
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
