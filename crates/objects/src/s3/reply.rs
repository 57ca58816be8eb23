//! What a reply of S3 means.

use hindsight_store::ObjectError;
use reqwest::{Response, StatusCode};

/// Bytes that are read of the body of an error.
const LONGEST: usize = 16 << 10;

/// A reply that is no success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The request is sent again.
    Again(String),
    /// The request is not sent again.
    Final(ObjectError),
}

/// The reply of a request that succeeded.
pub(super) async fn success(mut reply: Response) -> Result<Response, Failure> {
    let status = reply.status();
    if status.is_success() {
        return Ok(reply);
    }
    let mut body = Vec::new();
    while let Ok(Some(part)) = reply.chunk().await {
        body.extend_from_slice(&part);
        if body.len() > LONGEST {
            break;
        }
    }
    Err(failure(status, code(&String::from_utf8_lossy(&body))))
}

fn failure(status: StatusCode, code: Option<&str>) -> Failure {
    let text = match code {
        Some(code) => format!("{} {code}", status.as_u16()),
        None => status.as_u16().to_string(),
    };
    match status.as_u16() {
        404 if matches!(code, None | Some("NoSuchKey")) => Failure::Final(ObjectError::NotFound),
        412 => Failure::Final(ObjectError::Exists),
        // 409: another conditional write of the same key goes on.
        408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 => Failure::Again(text),
        300..=399 => Failure::Final(ObjectError::Refused(format!(
            "{text}: the bucket is in another region (AWS_REGION) or at another address (AWS_ENDPOINT_URL)"
        ))),
        _ => Failure::Final(ObjectError::Refused(text)),
    }
}

/// The code of an error, from the element `Code`. The message may repeat parts of the request and is left out.
fn code(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_plain = code.len() <= 64 && code.chars().all(|c| c.is_ascii_alphanumeric());
    (is_plain && !code.is_empty()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_told_apart() {
        let of = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).expect("a status");
            failure(status, code(body))
        };
        let error =
            |code: &str| format!("<Error><Code>{code}</Code><Message>secret</Message></Error>");
        let refused = |text: &str| Failure::Final(ObjectError::Refused(text.to_owned()));
        assert_eq!(of(404, ""), Failure::Final(ObjectError::NotFound));
        assert_eq!(
            of(404, &error("NoSuchKey")),
            Failure::Final(ObjectError::NotFound)
        );
        assert_eq!(of(404, &error("NoSuchBucket")), refused("404 NoSuchBucket"));
        assert_eq!(
            of(412, &error("PreconditionFailed")),
            Failure::Final(ObjectError::Exists)
        );
        assert_eq!(
            of(403, &error("SignatureDoesNotMatch")),
            refused("403 SignatureDoesNotMatch")
        );
        assert_eq!(of(501, &error("<b>")), refused("501"));
        assert_eq!(
            of(503, &error("SlowDown")),
            Failure::Again("503 SlowDown".to_owned())
        );
        assert!(matches!(
            of(301, ""),
            Failure::Final(ObjectError::Refused(_))
        ));
    }
}
