//! JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>), as far as the Model Context Protocol uses it.

use serde_json::{Value, json};

/// The code of a text that is no JSON.
const PARSE_ERROR: i64 = -32700;
/// The code of a message that is no request.
const INVALID_REQUEST: i64 = -32600;
/// The code of a method that does not exist.
const METHOD_NOT_FOUND: i64 = -32601;
/// The code of wrong parameters.
const INVALID_PARAMETERS: i64 = -32602;

/// A message.
#[derive(Debug)]
pub(super) enum Message {
    /// An empty line.
    Empty,
    /// No message; the reply that says so.
    Bad(String),
    Notification(Notification),
    Request(Request),
}

/// A message that wants a reply.
#[derive(Debug)]
pub(super) struct Request {
    /// A string or a number.
    pub(super) id: Value,
    pub(super) method: String,
    parameters: Value,
}

/// A message that wants no reply.
#[derive(Debug)]
pub(super) struct Notification {
    method: String,
    parameters: Value,
}

/// Why a request fails.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: i64,
    message: String,
}

impl Failure {
    /// A method that does not exist.
    pub(super) fn method(name: &str) -> Failure {
        Failure {
            code: METHOD_NOT_FOUND,
            message: format!("there is no method '{name}'"),
        }
    }

    /// Wrong parameters.
    pub(super) fn parameters(message: &str) -> Failure {
        Failure {
            code: INVALID_PARAMETERS,
            message: message.to_owned(),
        }
    }
}

impl Request {
    /// A parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&Value> {
        self.parameters.get(name)
    }
}

impl Notification {
    /// The id of the request that this cancels, as JSON text.
    pub(super) fn cancelled(&self) -> Option<String> {
        let id = self.parameters.get("requestId")?;
        (self.method == "notifications/cancelled").then(|| id.to_string())
    }
}

/// Reads a line. Replies of the client are read as empty: this server asks it nothing.
pub(super) fn read(line: &str) -> Message {
    if line.trim().is_empty() {
        return Message::Empty;
    }
    let bad = |code, message: &str| {
        let failure = Failure {
            code,
            message: message.to_owned(),
        };
        Message::Bad(reply(&Value::Null, Err(failure)))
    };
    let Ok(mut value) = serde_json::from_str::<Value>(line) else {
        return bad(PARSE_ERROR, "the line is no JSON");
    };
    if value.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return bad(INVALID_REQUEST, "the line is no message of JSON-RPC 2.0");
    }
    let Some(method) = value
        .get("method")
        .and_then(Value::as_str)
        .map(str::to_owned)
    else {
        if value.get("result").is_some() || value.get("error").is_some() {
            return Message::Empty;
        }
        return bad(INVALID_REQUEST, "`method` is missing");
    };
    let parameters = value.get_mut("params").map(Value::take).unwrap_or_default();
    match value.get("id") {
        None => Message::Notification(Notification { method, parameters }),
        Some(id) if id.is_string() || id.is_number() => Message::Request(Request {
            id: id.clone(),
            method,
            parameters,
        }),
        Some(_) => bad(INVALID_REQUEST, "`id` is neither a string nor a number"),
    }
}

/// The line of a reply; `outcome` is JSON text.
pub(super) fn reply(id: &Value, outcome: Result<String, Failure>) -> String {
    match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(Failure { code, message }) => {
            let error = json!({ "code": code, "message": message });
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let request = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#;
        assert!(
            matches!(read(request), Message::Request(request) if request.parameter("name").is_some())
        );
        let cancelled =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert!(
            matches!(read(cancelled), Message::Notification(one) if one.cancelled().as_deref() == Some("7"))
        );
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            Message::Empty
        ));
        for (line, code) in [
            ("{", PARSE_ERROR),
            ("[]", INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
        ] {
            let Message::Bad(reply) = read(line) else {
                panic!("{line} is no message");
            };
            assert!(reply.contains(&code.to_string()), "{reply}");
        }
    }

    #[test]
    fn replies_name_their_requests() {
        assert_eq!(
            reply(&json!("a"), Ok("{}".to_owned())),
            r#"{"jsonrpc":"2.0","id":"a","result":{}}"#
        );
        assert_eq!(
            reply(&json!(1), Err(Failure::method("x"))),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no method 'x'"}}"#
        );
    }
}
