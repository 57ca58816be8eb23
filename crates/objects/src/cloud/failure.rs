//! What a reply of a cloud means, and how errors of its client are told apart.

use std::error::Error;

use hindsight_store::ObjectError;
use object_store::client::{HttpError, HttpErrorKind};

use crate::address::Cloud;

/// A request that failed. It is the source of the errors of `object_store`, in whose own texts are URLs and what the service replied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// The request is sent again.
    #[error("{0}")]
    Again(String),
    /// The request is not sent again.
    #[error("{0}")]
    Final(ObjectError),
}

impl From<Failure> for HttpError {
    fn from(failure: Failure) -> HttpError {
        // `object_store` sends requests of the first kind again, and those of the second one never.
        let kind = match failure {
            Failure::Again(_) => HttpErrorKind::Request,
            Failure::Final(_) => HttpErrorKind::Unknown,
        };
        HttpError::new(kind, failure)
    }
}

impl From<Failure> for ObjectError {
    fn from(failure: Failure) -> ObjectError {
        match failure {
            Failure::Again(text) => ObjectError::Unavailable(text),
            Failure::Final(error) => error,
        }
    }
}

/// An error of a client of `object_store`.
pub(super) fn object_error(error: object_store::Error) -> ObjectError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(found) = cause {
        if let Some(failure) = found.downcast_ref::<Failure>() {
            return failure.clone().into();
        }
        cause = found.source();
    }
    // No request failed: a reply is not what was expected, or a file with a token cannot be read.
    match error {
        object_store::Error::NotFound { .. } => ObjectError::NotFound,
        object_store::Error::AlreadyExists { .. } => ObjectError::Exists,
        object_store::Error::Generic { source, .. } => ObjectError::Refused(source.to_string()),
        other => ObjectError::Refused(other.to_string()),
    }
}

/// A request that has no reply. Its URL is not in the text.
pub(super) fn unanswered(error: &HttpError) -> Failure {
    let mut text = String::new();
    let mut cause = error.source();
    while let Some(found) = cause {
        let colon = if text.is_empty() { "" } else { ": " };
        text = format!("{text}{colon}{found}");
        cause = found.source();
    }
    match error.kind() {
        HttpErrorKind::Timeout => Failure::Final(ObjectError::Unavailable(text)),
        _ => Failure::Again(text),
    }
}

/// A reply that is no success. `is_put` says that the request puts an object, which it does only if there is none.
pub(super) fn refused(cloud: Cloud, is_put: bool, status: u16, code: Option<&str>) -> Failure {
    let text = match code {
        Some(code) => format!("{status} {code}"),
        None => status.to_string(),
    };
    match (status, code) {
        (404, None | Some("NoSuchKey" | "BlobNotFound")) => Failure::Final(ObjectError::NotFound),
        // The three clouds say it in different ways.
        (412 | 304, _) | (409, Some("BlobAlreadyExists")) if is_put => {
            Failure::Final(ObjectError::Exists)
        }
        // 409: another conditional write of the same key goes on.
        (408 | 409 | 425 | 429 | 500 | 502 | 503 | 504, _) => Failure::Again(text),
        (300..=399, _) => {
            let elsewhere = match cloud {
                Cloud::S3 => {
                    "the bucket is in another region (AWS_REGION) or at another address (AWS_ENDPOINT_URL)"
                }
                Cloud::Azure => "the container is at another address (AZURE_STORAGE_ENDPOINT)",
                Cloud::Google => "the bucket is at another address (GOOGLE_BASE_URL)",
            };
            Failure::Final(ObjectError::Refused(format!("{text}: {elsewhere}")))
        }
        _ => Failure::Final(ObjectError::Refused(text)),
    }
}

/// Credentials that could not be obtained. `is_machine` says that the machine's metadata service was asked, because the environment has none.
pub(super) fn without_credentials(
    cloud: Cloud,
    is_machine: bool,
    status: Option<u16>,
    failure: Failure,
) -> Failure {
    let what = match (&failure, status) {
        (_, Some(status)) => format!("replies with {status}"),
        (Failure::Again(text) | Failure::Final(ObjectError::Unavailable(text)), None) => {
            format!("does not reply ({text})")
        }
        (Failure::Final(error), None) => error.to_string(),
    };
    let variables = match cloud {
        Cloud::S3 => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        Cloud::Azure => "AZURE_STORAGE_ACCOUNT_KEY",
        Cloud::Google => "GOOGLE_APPLICATION_CREDENTIALS",
    };
    let text = if is_machine {
        format!(
            "there are no credentials in the environment ({variables}), and the metadata service of the machine {what}"
        )
    } else {
        format!("there are no credentials: the service that issues tokens {what}")
    };
    match (failure, status) {
        // A metadata service that does not reply is mostly not there: the machine is none of the cloud's.
        (Failure::Again(_), _) if !is_machine => Failure::Again(text),
        (Failure::Again(_) | Failure::Final(ObjectError::Unavailable(_)), _) => {
            Failure::Final(ObjectError::Unavailable(text))
        }
        _ => Failure::Final(ObjectError::Refused(text)),
    }
}

/// The code of an error, from the element `Code`. The message may repeat parts of the request and is left out.
pub(super) fn code(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_plain = code.len() <= 64 && code.chars().all(|c| c.is_ascii_alphanumeric());
    (is_plain && !code.is_empty()).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOUDS: [Cloud; 3] = [Cloud::S3, Cloud::Azure, Cloud::Google];

    fn refusal(text: &str) -> Failure {
        Failure::Final(ObjectError::Refused(text.to_owned()))
    }

    #[test]
    fn replies_are_told_apart() {
        let error =
            |code: &str| format!("<Error><Code>{code}</Code><Message>secret</Message></Error>");
        for cloud in CLOUDS {
            for is_put in [false, true] {
                let of = |status: u16, body: &str| refused(cloud, is_put, status, code(body));
                for missing in [String::new(), error("NoSuchKey"), error("BlobNotFound")] {
                    assert_eq!(of(404, &missing), Failure::Final(ObjectError::NotFound));
                }
                for code in ["NoSuchBucket", "ContainerNotFound"] {
                    assert_eq!(of(404, &error(code)), refusal(&format!("404 {code}")));
                }
                assert_eq!(
                    of(403, &error("SignatureDoesNotMatch")),
                    refusal("403 SignatureDoesNotMatch")
                );
                assert_eq!(of(501, &error("<b>")), refusal("501"));
                for code in ["SlowDown", "ServerBusy"] {
                    let again = Failure::Again(format!("503 {code}"));
                    assert_eq!(of(503, &error(code)), again);
                }
                let going_on = Failure::Again("409 ConditionalRequestConflict".to_owned());
                assert_eq!(of(409, &error("ConditionalRequestConflict")), going_on);
                assert!(matches!(
                    of(301, ""),
                    Failure::Final(ObjectError::Refused(text)) if text.starts_with("301: the ")
                ));
            }
            for (status, code) in [
                (412, Some("PreconditionFailed")),
                (304, None),
                (409, Some("BlobAlreadyExists")),
            ] {
                let exists = Failure::Final(ObjectError::Exists);
                assert_eq!(refused(cloud, true, status, code), exists);
            }
            // A lease on the object.
            let leased = refused(cloud, false, 412, Some("LeaseIdMissing"));
            assert_eq!(leased, refusal("412 LeaseIdMissing"));
        }
    }

    #[test]
    fn failures_are_found_in_errors_of_the_client() {
        for (failure, expected) in [
            (Failure::Final(ObjectError::Exists), ObjectError::Exists),
            (
                Failure::Again("500".to_owned()),
                ObjectError::Unavailable("500".to_owned()),
            ),
        ] {
            let error = object_store::Error::Generic {
                store: "S3",
                source: Box::new(HttpError::from(failure)),
            };
            assert_eq!(object_error(error), expected);
        }
        let other = object_store::Error::Generic {
            store: "S3",
            source: "no list".into(),
        };
        assert_eq!(
            object_error(other),
            ObjectError::Refused("no list".to_owned())
        );
    }

    #[test]
    fn missing_credentials_name_the_variables() {
        for (cloud, name) in CLOUDS.into_iter().zip(["AWS_", "AZURE_", "GOOGLE_"]) {
            let timeout = Failure::Final(ObjectError::Unavailable("timed out".to_owned()));
            let found = without_credentials(cloud, true, None, timeout);
            assert!(matches!(
                &found,
                Failure::Final(ObjectError::Unavailable(text)) if text.contains(name) && text.contains("timed out")
            ));
            let denied = refused(cloud, false, 404, None);
            let found = without_credentials(cloud, true, Some(404), denied);
            assert!(matches!(
                &found,
                Failure::Final(ObjectError::Refused(text)) if text.contains(name) && text.contains("404")
            ));
            let busy =
                without_credentials(cloud, false, Some(503), refused(cloud, false, 503, None));
            assert!(matches!(busy, Failure::Again(_)));
        }
    }
}
