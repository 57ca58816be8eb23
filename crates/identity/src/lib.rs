//! Authentication: API keys, tokens of the embedded issuer and of trusted ones, passwords, rights.
//!
//! No HTTP server and no shapes of replies are here; `server` has those. Fetching a trusted issuer's keys is the one
//! thing that goes out.

pub mod api_key;
mod attempts;
mod claims;
mod external;
mod fetch;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod issuer;
mod jwt;
mod keyring;
mod known;
mod password;
mod right;
pub mod secret;
mod trust;

use std::sync::Arc;

use hindsight_store::Clock;

pub use attempts::Attempts;
pub use claims::{READ_SCOPE, USER_SCOPE, WRITE_SCOPE};
pub use external::ExternalToken;
pub use fetch::{FetchError, client_tls, install_crypto};
pub use issuer::{Issuer, OwnToken};
pub use jwt::TokenError;
pub use keyring::KeyError;
pub use password::{PasswordError, Passwords};
pub use right::{Right, Rights};
pub use trust::{Applications, TrustedIssuer, parse_trusted};

/// A verified token.
#[derive(Debug, Clone)]
pub enum Token {
    /// A token of the embedded issuer; the roles of its holder are looked up later.
    Own(OwnToken),
    /// A token of a trusted issuer.
    External(ExternalToken),
}

/// Verifies bearer tokens.
pub struct Verifier {
    issuer: Arc<Issuer>,
    external: external::ExternalIssuers,
}

impl Verifier {
    /// A verifier of the embedded issuer's tokens and those of the trusted ones.
    ///
    /// # Errors
    /// Where an issuer's address may not be asked.
    pub fn new(
        issuer: Arc<Issuer>,
        trusted: Vec<TrustedIssuer>,
        allow_local: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<Verifier, FetchError> {
        Ok(Verifier {
            issuer,
            external: external::ExternalIssuers::new(trusted, allow_local, clock)?,
        })
    }

    /// Verifies a token.
    ///
    /// # Errors
    /// [`TokenError`]: why the token is not valid.
    pub async fn verify(&self, token: &str) -> Result<Token, TokenError> {
        let parsed = jwt::parse(token)?;
        match self.issuer.of_token(&parsed) {
            // A trusted issuer is named exactly; the embedded one has several addresses.
            Some(issuer) if !self.external.includes(&parsed) => {
                issuer.verify(&parsed).await.map(Token::Own)
            }
            _ => self.external.verify(&parsed).await.map(Token::External),
        }
    }
}
