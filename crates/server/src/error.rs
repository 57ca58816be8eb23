//! The one place where failures become status codes and the recorded JSON shape (`docs/api-facts.md §2`, `D5`).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hindsight_engine::EngineError;
use hindsight_identity::{READ_SCOPE, TokenError};
use hindsight_store::StoreError;
use serde_json::{Value, json};

/// Why a request fails.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum ApiError {
    /// 401
    #[error("Valid authentication was not provided")]
    Unauthenticated,
    /// 403; says nothing about what is not permitted.
    #[error("The provided credentials have insufficient access to perform the requested operation")]
    Forbidden {
        /// Whether a bearer token was shown; the reply's header then names what it lacks (RFC 6750 §3.1).
        by_token: bool,
    },
    /// 401: a bearer token that is not good.
    #[error("Valid authentication was not provided")]
    InvalidToken(TokenError),
    /// 404
    #[error("The requested path does not exist")]
    PathNotFound,
    /// 404 with the name of what does not exist in a permitted application.
    #[error("{0}")]
    NotFound(String),
    /// 400 with one sentence.
    #[error("{message}")]
    Bad {
        /// What is wrong.
        message: String,
        /// Of which parameter.
        target: Option<String>,
        /// Where in it, in characters.
        position: Option<usize>,
    },
    /// 400: the body is not JSON, or not this JSON.
    #[error("{0}")]
    InvalidBody(String),
    /// 402 (`D20`).
    #[error(
        "The application is in the pricing tier '{has}', and this operation needs at least '{needs}'"
    )]
    PaymentRequired {
        /// The application's tier.
        has: &'static str,
        /// The setting `apps.minimum_tier`.
        needs: &'static str,
    },
    /// 412: what a request is based on has changed.
    #[error("{0}")]
    PreconditionFailed(String),
    /// 413
    #[error("{0}")]
    TooLarge(String),
    /// 408
    #[error("{0}")]
    Slow(String),
    /// 415
    #[error("{0}")]
    UnsupportedMedia(String),
    /// 429
    #[error("{message}")]
    Throttled {
        /// Which limit, with its value.
        message: String,
        /// The limit.
        limit: u64,
        /// Seconds.
        retry_after: u64,
    },
    /// 502
    #[error("{0}")]
    Downstream(String),
    /// 503
    #[error("{0}")]
    Unavailable(String),
    /// 500; the text goes to the log only.
    #[error("{0}")]
    Internal(String),
    /// Whatever the engine says.
    #[error(transparent)]
    Engine(EngineError),
}

/// Every code with its status and what it means.
pub(crate) const CODES: &[(u16, &str, &str)] = &[
    (
        400,
        "BadArgumentError",
        "The request is invalid; `innererror` says where.",
    ),
    (
        401,
        "AuthorizationRequiredError",
        "The credential is missing or not valid.",
    ),
    (
        402,
        "PaymentRequiredError",
        "The pricing tier of the application does not permit the operation.",
    ),
    (
        403,
        "InsufficientAccessError",
        "The credential does not permit this, or the application or key is wrong.",
    ),
    (
        404,
        "PathNotFoundError",
        "There is no such path, application, metric or event, or the path does not support the method; the header Allow then lists those that it supports.",
    ),
    (408, "RequestTimeoutError", "The body arrived too slowly."),
    (
        412,
        "PreconditionFailedError",
        "What the request is based on (If-Match) has changed meanwhile.",
    ),
    (413, "RequestTooLargeError", "The body is too large."),
    (
        415,
        "UnsupportedMediaTypeError",
        "The media type or the encoding of the body is not supported.",
    ),
    (
        429,
        "ThrottledError",
        "Too many requests; Retry-After says when to retry.",
    ),
    (
        500,
        "InternalServerFault",
        "An internal error; the log describes it under the correlation id.",
    ),
    (
        502,
        "BadGateway",
        "A dependency failed: the keys of the token's issuer cannot be fetched.",
    ),
    (
        503,
        "ServiceUnavailableError",
        "The server is temporarily unavailable.",
    ),
    (504, "GatewayTimeout", "The request exceeded its timeout."),
];

/// A response's error, for the outermost layer to write with the request's id.
#[derive(Debug, Clone)]
pub(crate) struct ErrorBody(pub(crate) ApiError);

/// The other way in that a 401 offers (RFC 7617 §2.1).
const BASIC: &str = "Basic realm=\"hindsight\", charset=\"UTF-8\"";
/// Seconds after which a refused writer may try again.
const RETRY_SECONDS: u64 = 5;

impl ApiError {
    /// 400 with this sentence.
    pub(crate) fn bad(message: impl Into<String>) -> ApiError {
        ApiError::Bad {
            message: message.into(),
            target: None,
            position: None,
        }
    }

    /// The status code.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            ApiError::Unauthenticated | ApiError::InvalidToken(_) => StatusCode::UNAUTHORIZED,
            ApiError::Forbidden { .. } => StatusCode::FORBIDDEN,
            ApiError::PathNotFound | ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::Bad { .. } | ApiError::InvalidBody(_) => StatusCode::BAD_REQUEST,
            ApiError::PaymentRequired { .. } => StatusCode::PAYMENT_REQUIRED,
            ApiError::PreconditionFailed(_) => StatusCode::PRECONDITION_FAILED,
            ApiError::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::Slow(_) => StatusCode::REQUEST_TIMEOUT,
            ApiError::UnsupportedMedia(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ApiError::Throttled { .. } => StatusCode::TOO_MANY_REQUESTS,
            ApiError::Downstream(_) => StatusCode::BAD_GATEWAY,
            ApiError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            ApiError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            ApiError::Engine(error) => engine_status(error),
        }
    }

    /// `WWW-Authenticate` (RFC 6750 §3): without a token it only says what is offered, with one also what is wrong.
    fn challenge(&self) -> Option<HeaderValue> {
        let text = match self {
            ApiError::Unauthenticated => format!("Bearer realm=\"hindsight\", {BASIC}"),
            ApiError::InvalidToken(error) => format!(
                "Bearer realm=\"hindsight\", error=\"invalid_token\", error_description=\"The token is not accepted: {error}\", {BASIC}"
            ),
            ApiError::Forbidden { by_token: true } => format!(
                "Bearer realm=\"hindsight\", error=\"insufficient_scope\", scope=\"{READ_SCOPE}\""
            ),
            _ => return None,
        };
        // Descriptions are ours and hold no quotes, so that the text is always a header's.
        HeaderValue::from_str(&text).ok()
    }

    /// The body's `error` object.
    pub(crate) fn body(&self, correlation: Option<&str>) -> Value {
        let (message, code, inner) = self.parts();
        let mut error = json!({ "message": message, "code": code });
        if let Some(object) = error.as_object_mut() {
            if let Some(id) = correlation {
                object.insert("correlationId".to_owned(), id.into());
            }
            if let Some(inner) = inner {
                object.insert("innererror".to_owned(), inner);
            }
        }
        json!({ "error": error })
    }

    /// Message, code and inner error.
    fn parts(&self) -> (String, &'static str, Option<Value>) {
        let text = self.to_string();
        match self {
            ApiError::Unauthenticated => (text, "AuthorizationRequiredError", None),
            ApiError::InvalidToken(error) => {
                let inner = json!({ "code": "InvalidTokenError", "message": format!("The token is not accepted: {error}") });
                (text, "AuthorizationRequiredError", Some(inner))
            }
            ApiError::Forbidden { .. } => (text, "InsufficientAccessError", None),
            ApiError::PathNotFound => (text, "PathNotFoundError", None),
            ApiError::NotFound(_) => {
                let inner = json!({ "code": "NotFoundError", "message": text });
                (
                    ApiError::PathNotFound.to_string(),
                    "PathNotFoundError",
                    Some(inner),
                )
            }
            ApiError::Bad {
                target, position, ..
            } => bad_argument(validation(&text, target.as_deref(), *position)),
            ApiError::InvalidBody(_) => bad_argument(json!({
                "code": "QueryValidationError",
                "message": "Failed parsing the query",
                "details": [{ "code": "InvalidJsonBody", "message": text, "target": null }],
            })),
            ApiError::PaymentRequired { .. } => (text, "PaymentRequiredError", None),
            ApiError::PreconditionFailed(_) => (text, "PreconditionFailedError", None),
            ApiError::TooLarge(_) => (text, "RequestTooLargeError", None),
            ApiError::Slow(_) => (text, "RequestTimeoutError", None),
            ApiError::UnsupportedMedia(_) => (text, "UnsupportedMediaTypeError", None),
            ApiError::Throttled { limit, .. } => {
                let inner =
                    json!({ "code": "ThrottledError", "message": text, "limitValue": limit });
                (
                    "Rate limit is exceeded".to_owned(),
                    "ThrottledError",
                    Some(inner),
                )
            }
            ApiError::Downstream(_) => (text, "BadGateway", None),
            ApiError::Unavailable(_) => (text, "ServiceUnavailableError", None),
            ApiError::Internal(_) => internal(),
            ApiError::Engine(error) => engine_parts(error),
        }
    }
}

fn bad_argument(inner: Value) -> (String, &'static str, Option<Value>) {
    (
        "The request had some invalid properties".to_owned(),
        "BadArgumentError",
        Some(inner),
    )
}

fn validation(message: &str, target: Option<&str>, position: Option<usize>) -> Value {
    let mut inner = json!({ "code": "QueryValidationError", "message": message });
    if let Some(object) = inner.as_object_mut() {
        if let Some(target) = target {
            object.insert("target".to_owned(), target.into());
        }
        if let Some(position) = position {
            object.insert("pos".to_owned(), position.into());
        }
    }
    inner
}

fn internal() -> (String, &'static str, Option<Value>) {
    let inner = json!({ "code": "InternalServerFault", "message": "Something went wrong while running the request" });
    (
        "Unexpected error occurred".to_owned(),
        "InternalServerFault",
        Some(inner),
    )
}

fn engine_status(error: &EngineError) -> StatusCode {
    match error {
        EngineError::Query { .. }
        | EngineError::BadParameter { .. }
        | EngineError::ResourcesExceeded(_)
        | EngineError::Failed(_) => StatusCode::BAD_REQUEST,
        EngineError::NotFound(_) => StatusCode::NOT_FOUND,
        EngineError::Forbidden => StatusCode::FORBIDDEN,
        EngineError::TimedOut { .. } => StatusCode::GATEWAY_TIMEOUT,
        EngineError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        EngineError::Unreadable(_) | EngineError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn engine_parts(error: &EngineError) -> (String, &'static str, Option<Value>) {
    let message = error.to_string();
    match error {
        EngineError::Query { text, diagnostics } => {
            bad_argument(diagnosed(text, diagnostics, &message))
        }
        EngineError::BadParameter {
            parameter,
            position,
            ..
        } => bad_argument(validation(&message, Some(parameter), *position)),
        EngineError::ResourcesExceeded(_) => {
            bad_argument(json!({ "code": "QueryResourcesExceeded", "message": message }))
        }
        EngineError::Failed(_) => {
            bad_argument(json!({ "code": "QueryExecutionError", "message": message }))
        }
        EngineError::NotFound(_) => ApiError::NotFound(message).parts(),
        EngineError::Forbidden => ApiError::Forbidden { by_token: false }.parts(),
        EngineError::Unavailable(_) => ApiError::Unavailable(message).parts(),
        EngineError::TimedOut { .. } => {
            let inner = json!({ "code": "GatewayTimeout", "message": message });
            ("Gateway timeout".to_owned(), "GatewayTimeout", Some(inner))
        }
        EngineError::Unreadable(_) => {
            let inner = json!({ "code": "DamagedData", "message": message });
            (
                "Unexpected error occurred".to_owned(),
                "InternalServerFault",
                Some(inner),
            )
        }
        EngineError::Internal(_) => internal(),
    }
}

/// The two recorded families: syntax errors carry line (from 1), pos (from 0) and token.
fn diagnosed(text: &str, diagnostics: &[hindsight_engine::Diagnostic], message: &str) -> Value {
    let Some(first) = diagnostics.first() else {
        return json!({ "code": "QueryValidationError", "message": message });
    };
    let described = |one: &hindsight_engine::Diagnostic| {
        let (line, pos, token) = one.position(text);
        json!({ "code": one.code.as_str(), "message": one.message, "line": line, "pos": pos, "token": token })
    };
    let (code, message) = if first.is_syntax() {
        ("SyntaxError", "A recognition error occurred in the query.")
    } else {
        ("SemanticError", "A semantic error occurred.")
    };
    let mut inner = json!({ "code": code, "message": message, "innererror": described(first) });
    // Recorded replies tell one error; `details` has the others.
    let others: Vec<Value> = diagnostics.iter().skip(1).map(described).collect();
    if let (Some(object), false) = (inner.as_object_mut(), others.is_empty()) {
        object.insert("details".to_owned(), Value::Array(others));
    }
    inner
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> ApiError {
        ApiError::Engine(error)
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        match error {
            StoreError::Overloaded { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Joining
            | StoreError::NoCopy { .. }
            | StoreError::Node { .. }
            | StoreError::Closed => ApiError::Unavailable(error.to_string()),
            // What went wrong on this machine's disk is for its log, not for the caller.
            StoreError::Io { .. } => {
                tracing::error!(%error, "the store failed");
                ApiError::Unavailable("The store cannot be written at the moment".to_owned())
            }
            _ if error.is_catalogue_unavailable() => {
                tracing::error!(%error, "the catalogue cannot be reached");
                ApiError::Unavailable("The catalogue cannot be reached at the moment".to_owned())
            }
            other => ApiError::Internal(other.to_string()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        let headers = response.headers_mut();
        if let Some(challenge) = self.challenge() {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        let retry = match &self {
            ApiError::Throttled { retry_after, .. } => Some(*retry_after),
            ApiError::Downstream(_)
            | ApiError::Unavailable(_)
            | ApiError::Engine(EngineError::Unavailable(_)) => Some(RETRY_SECONDS),
            _ => None,
        };
        if let Some(seconds) = retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(ErrorBody(self));
        response
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hindsight_engine::{Code, Diagnostic, Span};

    use super::*;

    fn query_error(code: Code, text: &str, start: usize, end: usize, message: &str) -> ApiError {
        ApiError::Engine(EngineError::Query {
            text: text.to_owned(),
            diagnostics: vec![Diagnostic::new(code, message, Span::new(start, end))],
        })
    }

    #[test]
    fn a_syntax_error_has_the_recorded_shape() {
        let error = query_error(
            Code::Syntax,
            "print 1\n| oops",
            10,
            14,
            "Query could not be parsed at 'oops' on line [2,2]",
        );
        assert_eq!(error.status(), 400);
        assert_eq!(
            error.body(Some("c")).to_string(),
            concat!(
                r#"{"error":{"message":"The request had some invalid properties","code":"BadArgumentError","correlationId":"c","#,
                r#""innererror":{"code":"SyntaxError","message":"A recognition error occurred in the query.","#,
                r#""innererror":{"code":"SYN0002","message":"Query could not be parsed at 'oops' on line [2,2]","#,
                r#""line":2,"pos":2,"token":"oops"}}}}"#
            )
        );
    }

    #[test]
    fn further_errors_are_details_of_the_first() {
        let diagnostic =
            |message, at| Diagnostic::new(Code::UnresolvedName, message, Span::new(at, at + 1));
        let error = ApiError::Engine(EngineError::Query {
            text: "where x\n| where y".to_owned(),
            diagnostics: vec![diagnostic("no x", 6), diagnostic("no y", 16)],
        });
        let body = error.body(None);
        let inner = body.pointer("/error/innererror").unwrap();
        assert_eq!(inner["innererror"]["message"], "no x");
        assert_eq!(
            inner["details"],
            json!([{ "code": "SEM0100", "message": "no y", "line": 2, "pos": 8, "token": "y" }])
        );
    }

    #[test]
    fn a_semantic_error_is_told_from_a_syntax_error() {
        let body = query_error(Code::UnresolvedName, "where x", 6, 7, "no x").body(None);
        assert_eq!(
            body.pointer("/error/innererror/code"),
            Some(&json!("SemanticError"))
        );
        assert_eq!(
            body.pointer("/error/innererror/innererror/code"),
            Some(&json!("SEM0100"))
        );
    }

    #[test]
    fn every_kind_of_failure_has_its_status_and_code() {
        let check = |error: ApiError, status: u16, code: &str| {
            assert_eq!(error.status().as_u16(), status, "{error}");
            assert_eq!(
                error.body(None).pointer("/error/code"),
                Some(&json!(code)),
                "{error}"
            );
            assert!(
                CODES.iter().any(|row| (row.0, row.1) == (status, code)),
                "{code}"
            );
        };
        check(ApiError::TooLarge("x".into()), 413, "RequestTooLargeError");
        check(ApiError::Slow("x".into()), 408, "RequestTimeoutError");
        check(
            ApiError::UnsupportedMedia("x".into()),
            415,
            "UnsupportedMediaTypeError",
        );
        check(ApiError::Unauthenticated, 401, "AuthorizationRequiredError");
        check(
            ApiError::Forbidden { by_token: true },
            403,
            "InsufficientAccessError",
        );
        check(
            ApiError::InvalidToken(TokenError::Expired),
            401,
            "AuthorizationRequiredError",
        );
        check(ApiError::PathNotFound, 404, "PathNotFoundError");
        check(ApiError::NotFound("x".into()), 404, "PathNotFoundError");
        check(ApiError::bad("x"), 400, "BadArgumentError");
        check(ApiError::InvalidBody("x".into()), 400, "BadArgumentError");
        check(
            ApiError::PaymentRequired {
                has: "free",
                needs: "basic",
            },
            402,
            "PaymentRequiredError",
        );
        check(
            ApiError::Throttled {
                message: "x".into(),
                limit: 5,
                retry_after: 1,
            },
            429,
            "ThrottledError",
        );
        check(ApiError::Downstream("x".into()), 502, "BadGateway");
        check(
            ApiError::Unavailable("x".into()),
            503,
            "ServiceUnavailableError",
        );
        check(ApiError::Internal("x".into()), 500, "InternalServerFault");
        check(
            EngineError::TimedOut {
                limit: Duration::from_secs(1),
            }
            .into(),
            504,
            "GatewayTimeout",
        );
        check(
            EngineError::Forbidden.into(),
            403,
            "InsufficientAccessError",
        );
        check(
            EngineError::NotFound("x".into()).into(),
            404,
            "PathNotFoundError",
        );
    }

    #[test]
    fn the_list_of_codes_is_whole() {
        let text = include_str!("error.rs");
        let (listed, made) = text.split_once("/// A response's error").unwrap();
        for (status, code, _) in CODES {
            let used = made.contains(&format!("\"{code}\""));
            assert!(used && listed.contains(code), "{status} {code}");
        }
    }

    #[test]
    fn internal_errors_are_not_disclosed() {
        let body = ApiError::Internal("disk /secret/path".into())
            .body(None)
            .to_string();
        assert!(!body.contains("secret"), "{body}");
    }

    #[test]
    fn a_401_challenges_and_a_503_says_when_to_come_back() {
        let response = ApiError::Unauthenticated.into_response();
        assert!(
            response
                .headers()
                .get("www-authenticate")
                .is_some_and(|value| value.to_str().unwrap().contains("Basic"))
        );
        let response = ApiError::Unavailable("x".into()).into_response();
        assert_eq!(
            response.headers().get("retry-after"),
            Some(&HeaderValue::from(RETRY_SECONDS))
        );
    }
}
