//! Replies to requests of OpenTelemetry, in the form of the request: protobuf, JSON or gRPC.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hindsight_otlp::Signal;
use http_body_util::{BodyExt, Full};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;
use serde_json::json;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::error::ApiError;

/// The form of a request and of its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `application/x-protobuf`
    Protobuf,
    /// `application/json`
    Json,
    /// `application/grpc`: one message, with its length before it.
    Grpc,
}

/// Seconds after which a refused sender may try again. Senders give up after some ten seconds.
const RETRY: u64 = 5;
/// Characters of an error message: a small request must not get a large reply.
const LONGEST_MESSAGE: usize = 1024;
/// The encodings of messages that gRPC clients may choose from.
const GRPC_ENCODINGS: &str = "identity,gzip,deflate,zstd,snappy";

impl Form {
    /// The form that a `Content-Type` names; `None` for others.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Form> {
        let text = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let name = text.split(';').next().unwrap_or_default().trim();
        Some(match name.to_ascii_lowercase().as_str() {
            "application/x-protobuf" | "application/protobuf" => Form::Protobuf,
            "application/json" => Form::Json,
            "application/grpc" | "application/grpc+proto" => Form::Grpc,
            _ => return None,
        })
    }
}

/// The reply to a request that is stored, but for `rejected` items. A message without rejected items is a warning.
pub(crate) fn stored(
    form: Form,
    signal: Signal,
    rejected: usize,
    message: Option<String>,
) -> Response {
    let is_partial = rejected > 0 || message.is_some();
    let count = i64::try_from(rejected).unwrap_or(i64::MAX);
    let text = shortened(message.unwrap_or_default());
    match form {
        Form::Json => {
            let body = if is_partial {
                let name = match signal {
                    Signal::Traces => "rejectedSpans",
                    Signal::Logs => "rejectedLogRecords",
                    Signal::Metrics => "rejectedDataPoints",
                };
                json!({ "partialSuccess": { name: count.to_string(), "errorMessage": text } })
            } else {
                json!({})
            };
            typed(StatusCode::OK, "application/json", body.to_string())
        }
        Form::Protobuf => {
            let body = encoded(signal, is_partial.then_some((count, text)));
            typed(StatusCode::OK, "application/x-protobuf", body)
        }
        Form::Grpc => grpc(&encoded(signal, is_partial.then_some((count, text)))),
    }
}

/// The response message, with the rejected items and the reason if there are any.
fn encoded(signal: Signal, partial: Option<(i64, String)>) -> Vec<u8> {
    match signal {
        Signal::Traces => ExportTraceServiceResponse {
            partial_success: partial.map(|(rejected_spans, error_message)| {
                ExportTracePartialSuccess {
                    rejected_spans,
                    error_message,
                }
            }),
        }
        .encode_to_vec(),
        Signal::Logs => ExportLogsServiceResponse {
            partial_success: partial.map(|(rejected_log_records, error_message)| {
                ExportLogsPartialSuccess {
                    rejected_log_records,
                    error_message,
                }
            }),
        }
        .encode_to_vec(),
        Signal::Metrics => ExportMetricsServiceResponse {
            partial_success: partial.map(|(rejected_data_points, error_message)| {
                ExportMetricsPartialSuccess {
                    rejected_data_points,
                    error_message,
                }
            }),
        }
        .encode_to_vec(),
    }
}

/// A message of gRPC, and its good status in the trailers.
fn grpc(message: &[u8]) -> Response {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let framed = [&[0], length.to_be_bytes().as_slice(), message].concat();
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(Bytes::from(framed));
    let body = Body::new(body.with_trailers(async move { Some(Ok(trailers)) }));
    typed(StatusCode::OK, "application/grpc", body)
}

/// The reply to a request of which nothing is stored. `status` is that of HTTP.
pub(crate) fn refused(form: Form, status: u16, message: &str) -> Response {
    let text = shortened(message.to_owned());
    let may_retry = matches!(status, 429 | 502 | 503 | 504);
    if form == Form::Grpc {
        return grpc_status(status, text, may_retry);
    }
    let code = code(status) as i32;
    let mut reply = if form == Form::Json {
        let body = json!({ "code": code, "message": text, "details": [] });
        typed(http(status), "application/json", body.to_string())
    } else {
        let body = tonic_types::Status {
            code,
            message: text,
            details: Vec::new(),
        };
        typed(http(status), "application/x-protobuf", body.encode_to_vec())
    };
    if may_retry {
        let headers = reply.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY));
    }
    reply
}

/// The refusal of a request before its route: no credential, or a bad one.
pub(crate) fn refused_at_the_gate(headers: &HeaderMap, error: ApiError) -> Response {
    let form = Form::of(headers).unwrap_or(Form::Json);
    let mut reply = refused(form, error.status().as_u16(), &error.to_string());
    let told = error.into_response();
    if form != Form::Grpc
        && let Some(challenge) = told.headers().get(header::WWW_AUTHENTICATE)
    {
        let headers = reply.headers_mut();
        headers.insert(header::WWW_AUTHENTICATE, challenge.clone());
    }
    reply
}

/// The status of gRPC, in the headers of a reply without a body.
fn grpc_status(status: u16, message: String, may_retry: bool) -> Response {
    let code = code(status);
    let status = if may_retry {
        let details = ErrorDetails::with_retry_info(Some(Duration::from_secs(RETRY)));
        Status::with_error_details(code, message, details)
    } else {
        Status::new(code, message)
    };
    let mut reply = typed(StatusCode::OK, "application/grpc", Body::empty());
    let headers = reply.headers_mut();
    if status.add_header(headers).is_err() {
        headers.insert("grpc-status", HeaderValue::from(code as i32));
    }
    if code == Code::Unimplemented {
        let encodings = HeaderValue::from_static(GRPC_ENCODINGS);
        headers.insert("grpc-accept-encoding", encodings);
    }
    reply
}

/// The code of gRPC for a status of HTTP. Clients try again after `Unavailable`, and after `ResourceExhausted` with a delay.
fn code(status: u16) -> Code {
    match status {
        400 => Code::InvalidArgument,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 | 415 => Code::Unimplemented,
        413 | 429 => Code::ResourceExhausted,
        502..=504 => Code::Unavailable,
        500 => Code::Internal,
        _ => Code::Unknown,
    }
}

fn http(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn typed(status: StatusCode, media: &'static str, body: impl Into<Body>) -> Response {
    let media = HeaderValue::from_static(media);
    (status, [(header::CONTENT_TYPE, media)], body.into()).into_response()
}

fn shortened(message: String) -> String {
    if message.chars().nth(LONGEST_MESSAGE).is_none() {
        return message;
    }
    message.chars().take(LONGEST_MESSAGE).chain(['…']).collect()
}
