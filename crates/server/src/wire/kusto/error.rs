//! Errors in the form of the protocol, OneApiErrors.

use axum::http::StatusCode;
use hindsight_engine::{Diagnostic, EngineError};
use hindsight_kql_types::datetime;
use serde_json::{Value, json};

use super::super::query::{Problem, TOO_LARGE};
use super::Stamp;
use crate::error::ApiError;

/// What an error object says of its request beside the request's id.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Now, ticks.
    pub(crate) now: i64,
    /// What the client calls the request.
    pub(crate) client_id: String,
}

/// A kind of failure: its code, its type in the clients for .NET, what it is in general, and whether a repetition is futile.
struct Kind {
    code: &'static str,
    exception: &'static str,
    message: &'static str,
    permanent: bool,
}

const BAD_REQUEST: Kind = Kind {
    code: "General_BadRequest",
    exception: "Kusto.Data.Exceptions.KustoBadRequestException",
    message: "Request is invalid and cannot be executed.",
    permanent: true,
};
const LIMITS_EXCEEDED: Kind = Kind {
    code: "LimitsExceeded",
    exception: "Kusto.Data.Exceptions.KustoServicePartialQueryFailureLimitsExceededException",
    message: "Request is invalid and cannot be executed.",
    permanent: false,
};
const DENIED: Kind = Kind {
    code: "Forbidden",
    exception: "Kusto.Data.Exceptions.KustoRequestDeniedException",
    message: "Caller is not authorized to perform this action.",
    permanent: true,
};
const UNAUTHORIZED: Kind = Kind {
    code: "Unauthorized",
    message: "Caller is not authenticated.",
    ..DENIED
};
const THROTTLED: Kind = Kind {
    code: "TooManyRequests",
    exception: "Kusto.Data.Exceptions.KustoRequestThrottledException",
    message: "The request is denied because too many requests arrive.",
    permanent: false,
};
const TIMED_OUT: Kind = Kind {
    code: "Timeout",
    exception: "Kusto.Data.Exceptions.KustoServiceTimeoutException",
    message: "Request timed out.",
    permanent: false,
};
const FAILED: Kind = Kind {
    code: "InternalServerError",
    exception: "Kusto.Data.Exceptions.KustoServiceException",
    message: "The service could not execute the request.",
    permanent: false,
};
const UNAVAILABLE: Kind = Kind {
    code: "ServiceUnavailable",
    ..FAILED
};
const PARTIAL_FAILURE: Kind = Kind {
    code: "PartialQueryFailure",
    exception: "Kusto.Data.Exceptions.KustoServicePartialQueryFailureException",
    message: "The result is not whole.",
    permanent: false,
};

impl Kind {
    fn of(error: &ApiError) -> Kind {
        if matches!(error, ApiError::Engine(EngineError::ResourcesExceeded(_))) {
            return LIMITS_EXCEEDED;
        }
        match error.status() {
            StatusCode::UNAUTHORIZED => UNAUTHORIZED,
            StatusCode::FORBIDDEN => DENIED,
            StatusCode::TOO_MANY_REQUESTS => THROTTLED,
            StatusCode::GATEWAY_TIMEOUT => TIMED_OUT,
            StatusCode::SERVICE_UNAVAILABLE => UNAVAILABLE,
            status if status.is_client_error() => BAD_REQUEST,
            _ => FAILED,
        }
    }
}

/// The object of an error, `{"error": {…}}`.
pub(crate) fn document(error: &ApiError, request_id: &str, context: &Context) -> Value {
    let kind = Kind::of(error);
    let about = about(context.now, &context.client_id, request_id);
    let (text, inner) = match error {
        ApiError::Engine(EngineError::Query { text, diagnostics }) => match diagnostics.first() {
            Some(first) => {
                let said = said(first, text);
                let whole = format!("Request is invalid and cannot be processed: {said}");
                (whole, Some(diagnosed(first, text, &said, &about)))
            }
            None => (error.to_string(), None),
        },
        // What failed on this machine is for its log, not for the caller.
        ApiError::Internal(_) | ApiError::Engine(EngineError::Internal(_)) => (
            "Something went wrong while running the request".to_owned(),
            None,
        ),
        ApiError::InvalidToken(why) => (format!("The token is not accepted: {why}"), None),
        _ => (error.to_string(), None),
    };
    let mut object = object(&kind, &text, about);
    if let (Some(inner), Some(members)) = (inner, object.as_object_mut()) {
        members.insert("innererror".to_owned(), inner);
    }
    json!({ "error": object })
}

/// The object of a failure within a data set.
pub(super) fn in_data_set(error: &ApiError, stamp: &Stamp) -> Value {
    let context = Context {
        now: stamp.now,
        client_id: stamp.client_id.clone(),
    };
    document(error, &stamp.request_id, &context)
}

/// The object of a reason why a result is not whole.
pub(super) fn not_whole(problem: &Problem, stamp: &Stamp) -> Value {
    let kind = if problem.code == TOO_LARGE {
        LIMITS_EXCEEDED
    } else {
        PARTIAL_FAILURE
    };
    let about = about(stamp.now, &stamp.client_id, &stamp.request_id);
    json!({ "error": object(&kind, &problem.message, about) })
}

fn object(kind: &Kind, text: &str, about: Value) -> Value {
    json!({
        "code": kind.code,
        "message": kind.message,
        "@type": kind.exception,
        "@message": text,
        "@context": about,
        "@permanent": kind.permanent,
    })
}

fn about(now: i64, client_id: &str, request_id: &str) -> Value {
    let mut timestamp = String::new();
    // Writing into a text cannot fail.
    let _ = datetime::write_full(now, &mut timestamp);
    json!({
        "timestamp": timestamp,
        "serviceAlias": "HINDSIGHT",
        "clientRequestId": client_id,
        "activityId": request_id,
    })
}

/// The sentence of a diagnostic with its code and, for a syntax error, its place. Clients tell semantic errors by how it begins.
fn said(diagnostic: &Diagnostic, text: &str) -> String {
    let (code, message) = (diagnostic.code.as_str(), &diagnostic.message);
    if diagnostic.is_syntax() {
        let (line, column, _) = diagnostic.position(text);
        format!("Syntax error: {code}: {message} [line:position={line}:{column}]. Query: '{text}'")
    } else {
        format!("Semantic error: {code}: {message}")
    }
}

fn diagnosed(diagnostic: &Diagnostic, text: &str, said: &str, about: &Value) -> Value {
    let (line, column, token) = diagnostic.position(text);
    let exception = if diagnostic.is_syntax() {
        "Kusto.Data.Exceptions.SyntaxException"
    } else {
        "Kusto.Data.Exceptions.SemanticException"
    };
    json!({
        "code": diagnostic.code.as_str(),
        "message": diagnostic.message,
        "@type": exception,
        "@message": said,
        "@context": about,
        "@permanent": true,
        "@line": line.to_string(),
        "@pos": column.to_string(),
        "@errorCode": diagnostic.code.as_str(),
        "@errorMessage": diagnostic.message,
        "@token": token,
    })
}
