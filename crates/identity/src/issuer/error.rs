//! What can go wrong at the issuer: OAuth's names (RFC 6749 §4.1.2.1 and §5.2, RFC 8628 §3.5) with the numbers that
//! clients of the cloud's directory know (`docs/api-facts.md §8`).

use crate::keyring::KeyError;
use hindsight_store::StoreError;

/// Seconds after which a sign-in that found no room may be tried again.
const BUSY_SECONDS: u64 = 2;

/// An error that a client is told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}: {message}")]
pub struct OAuthError {
    /// OAuth's name, such as `invalid_grant`.
    pub error: &'static str,
    /// The directory's numbers, the most telling last.
    pub codes: Vec<u32>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The status of a reply that is JSON.
    pub status: u16,
    /// Seconds after which another try makes sense.
    pub retry_after: Option<u64>,
}

impl OAuthError {
    fn new(error: &'static str, code: u32, message: impl Into<String>) -> OAuthError {
        OAuthError {
            error,
            codes: vec![code],
            message: message.into(),
            status: 400,
            retry_after: None,
        }
    }

    /// A parameter is missing.
    pub fn missing(name: &str) -> OAuthError {
        let message = format!("The request must contain the following parameter: '{name}'.");
        OAuthError::new("invalid_request", 900_144, message)
    }

    /// The request is not well formed.
    pub fn invalid_request(message: impl Into<String>) -> OAuthError {
        OAuthError::new("invalid_request", 9_002_313, message)
    }

    /// There is no such tenant.
    pub fn unknown_tenant(name: &str) -> OAuthError {
        let message = format!(
            "Tenant '{name}' not found. Check to make sure you have the correct tenant ID."
        );
        OAuthError::new("invalid_request", 90_002, message)
    }

    /// There is no such client.
    pub fn unknown_client(id: &str) -> OAuthError {
        let message = format!("Application with identifier '{id}' was not found in the directory.");
        OAuthError {
            status: 401,
            ..OAuthError::new("invalid_client", 700_016, message)
        }
    }

    /// The client showed a wrong secret.
    pub fn wrong_secret() -> OAuthError {
        OAuthError {
            status: 401,
            ..OAuthError::new(
                "invalid_client",
                7_000_215,
                "Invalid client secret provided.",
            )
        }
    }

    /// The client must show a secret and did not.
    pub fn no_secret() -> OAuthError {
        let message = "The request body must contain the following parameter: 'client_secret'.";
        OAuthError {
            status: 401,
            ..OAuthError::new("invalid_client", 7_000_218, message)
        }
    }

    /// Too many failures; try later.
    pub fn too_many(seconds: u64) -> OAuthError {
        let message = format!("Too many failed attempts; try again in {seconds} seconds.");
        OAuthError {
            status: 429,
            retry_after: Some(seconds),
            ..OAuthError::new("temporarily_unavailable", 50_053, message)
        }
    }

    /// Too many passwords are being compared; try later.
    pub fn busy() -> OAuthError {
        let message = "Too many sign-ins at the moment; try again in a few seconds.";
        OAuthError {
            status: 503,
            retry_after: Some(BUSY_SECONDS),
            ..OAuthError::new("temporarily_unavailable", 90_033, message)
        }
    }

    /// The redirect address is not one of the client's.
    pub fn wrong_redirect() -> OAuthError {
        let message = "The redirect URI specified in the request does not match the redirect URIs configured for the application.";
        OAuthError::new("invalid_request", 50_011, message)
    }

    /// The kind of grant is not offered.
    pub fn unsupported_grant(message: impl Into<String>) -> OAuthError {
        OAuthError::new("unsupported_grant_type", 70_003, message)
    }

    /// The kind of response is not offered.
    pub fn unsupported_response(message: impl Into<String>) -> OAuthError {
        OAuthError::new("unsupported_response_type", 700_051, message)
    }

    /// The client may not do this.
    pub fn unauthorized_client(message: impl Into<String>) -> OAuthError {
        OAuthError::new("unauthorized_client", 700_025, message)
    }

    /// The code or refresh token is not good (any more).
    pub fn invalid_grant(code: u32, message: &str) -> OAuthError {
        let message = format!("Error validating credentials. AADSTS{code}: {message}");
        OAuthError {
            codes: vec![70_002, code],
            ..OAuthError::new("invalid_grant", 70_002, message)
        }
    }

    /// There is no such resource.
    pub fn unknown_resource(name: &str) -> OAuthError {
        let message = format!("The resource principal named {name} was not found in the tenant.");
        OAuthError::new("invalid_resource", 500_011, message)
    }

    /// The scope is not offered.
    pub fn invalid_scope(message: impl Into<String>) -> OAuthError {
        OAuthError::new("invalid_scope", 70_011, message)
    }

    /// The person must sign in, and the client does not want them asked.
    pub fn login_required() -> OAuthError {
        OAuthError::new("login_required", 50_058, "The user is not signed in.")
    }

    /// The person has not decided yet.
    pub fn pending() -> OAuthError {
        let message = "Authorization is pending. Continue polling.";
        OAuthError::new("authorization_pending", 70_016, message)
    }

    /// The client asks too often.
    pub fn slow_down() -> OAuthError {
        OAuthError::new(
            "slow_down",
            70_016,
            "Polling too often; wait for the interval between two requests.",
        )
    }

    /// The person said no.
    pub fn access_denied() -> OAuthError {
        OAuthError::new("access_denied", 65_004, "The user declined to sign in.")
    }

    /// The device's code is too old.
    pub fn expired_token() -> OAuthError {
        OAuthError::new(
            "expired_token",
            70_020,
            "The provided value for the input parameter 'device_code' is not valid any more.",
        )
    }

    /// There is no such device code.
    pub fn bad_device_code() -> OAuthError {
        OAuthError::invalid_grant(70_019, "The verification code is not valid.")
    }

    /// Something failed here.
    pub fn server(error: &dyn std::fmt::Display) -> OAuthError {
        tracing::error!(%error, "the issuer failed");
        OAuthError {
            status: 500,
            ..OAuthError::new(
                "server_error",
                90_033,
                "Something went wrong while answering the request.",
            )
        }
    }

    /// The number that tells most.
    pub fn code(&self) -> u32 {
        self.codes.first().copied().unwrap_or_default()
    }
}

impl From<StoreError> for OAuthError {
    fn from(error: StoreError) -> OAuthError {
        OAuthError::server(&error)
    }
}

impl From<KeyError> for OAuthError {
    fn from(error: KeyError) -> OAuthError {
        OAuthError::server(&error)
    }
}

impl From<crate::secret::NoRandom> for OAuthError {
    fn from(error: crate::secret::NoRandom) -> OAuthError {
        OAuthError::server(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_server_is_no_fault_of_the_client() {
        let error = OAuthError::server(&"the disk is full");
        assert_eq!((error.error, error.status), ("server_error", 500));
        assert!(!error.message.contains("disk"), "details stay in the log");
    }
}
