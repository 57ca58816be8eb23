//! The body of a request of the protocol.

use serde::Deserialize;
use serde_json::Value;

use super::properties::Properties;
use crate::error::ApiError;

/// The body as it is sent. Unknown members are ignored, as clients send more than is documented.
#[derive(Debug, Deserialize)]
struct Body {
    db: Option<String>,
    csl: Option<String>,
    /// An object, or its text.
    #[serde(default)]
    properties: Value,
}

/// What a request asks.
#[derive(Debug)]
pub(super) struct Payload {
    /// The database, if the request names one.
    pub(super) database: Option<String>,
    /// The query or command.
    pub(super) text: String,
    pub(super) properties: Properties,
}

impl Payload {
    /// Reads a body.
    ///
    /// # Errors
    /// [`ApiError::InvalidBody`] for what is not JSON or not of this form, [`ApiError::Bad`] for a missing text or a property that
    /// cannot be followed.
    pub(super) fn parse(body: &[u8]) -> Result<Payload, ApiError> {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let body: Body = serde_json::from_slice(body)
            .map_err(|error| ApiError::InvalidBody(error.to_string()))?;
        let text = body.csl.filter(|text| !text.trim().is_empty());
        Ok(Payload {
            database: body.db.filter(|name| !name.is_empty()),
            text: text.ok_or_else(|| ApiError::bad("'csl' property is required"))?,
            properties: Properties::read(body.properties)?,
        })
    }

    /// Whether the text is a management command: it begins with a full stop.
    pub(super) fn is_command(&self) -> bool {
        super::command::is_command(&self.text)
    }
}
