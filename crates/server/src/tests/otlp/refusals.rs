//! What is refused: the form of refusals, their numbers, and hostile payloads.

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{Span, span};
use prost::Message;
use serde_json::json;

use super::rows;
use super::sending::{
    GRPC, Headers, JSON, PROTOBUF, SERVICE, TRACES, a_span, framed, gzip, now, spans, text,
};
use crate::tests::*;

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
