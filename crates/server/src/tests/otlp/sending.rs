//! Requests of OpenTelemetry and how they are sent.

use std::io::Write;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, span};

use super::rows;
use crate::tests::*;

/// Headers of a request.
pub(super) type Headers<'h> = Vec<(&'h str, &'h str)>;

pub(super) const PROTOBUF: (&str, &str) = ("content-type", "application/x-protobuf");
pub(super) const JSON: (&str, &str) = ("content-type", "application/json");
pub(super) const GRPC: (&str, &str) = ("content-type", "application/grpc");
pub(super) const TRACES: &str = "/v1/traces";
pub(super) const SERVICE: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// Nanoseconds since 1970 of the server's time.
pub(super) fn now(server: &Server) -> u64 {
    let ticks = server.app.now() - 621_355_968_000_000_000;
    u64::try_from(ticks).unwrap() * 100
}

pub(super) fn text(key: &str, value: &str) -> KeyValue {
    let value = any_value::Value::StringValue(value.to_owned());
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

pub(super) fn a_span(start: u64, number: u8) -> Span {
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
pub(super) fn spans(attributes: Vec<KeyValue>, spans: Vec<Span>) -> ExportTraceServiceRequest {
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

/// The bytes of a gRPC request.
pub(super) fn framed(compressed: bool, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[u8::from(compressed)], length.as_slice(), message].concat()
}

pub(super) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

impl Server {
    pub(super) fn ikey(&self) -> String {
        self.shop.instrumentation_key.to_string()
    }

    pub(super) async fn export(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Reply {
        self.ask(Method::POST, path, headers, body).await
    }

    pub(super) async fn rows_of(&self, table: &str) -> usize {
        rows(self, &self.shop, table, &[]).await.len()
    }
}
