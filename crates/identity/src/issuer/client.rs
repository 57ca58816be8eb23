//! Which client asks, and whether it is that client (RFC 6749 §2.3).

use hindsight_store::ClientRecord;

use super::Issuer;
use super::error::OAuthError;
use super::form::Form;
use crate::claims::PORTAL_CLIENT;
use crate::secret;

/// A name and password of a request's `Authorization: Basic`.
pub(crate) type Basic = (String, String);

/// A client that has shown who it is as far as it can.
pub(crate) struct Authenticated {
    pub(crate) client: ClientRecord,
    /// Whether it showed a secret.
    pub(crate) confidential: bool,
}

impl Issuer {
    /// The client of a request, with its secret checked where it shows one.
    pub(crate) async fn authenticate(
        &self,
        form: &Form,
        basic: Option<&Basic>,
        address: &str,
    ) -> Result<Authenticated, OAuthError> {
        for unknown in ["client_assertion", "client_assertion_type"] {
            if form.get(unknown)?.is_some() {
                let message = format!("'{unknown}' is not supported; use 'client_secret'.");
                return Err(OAuthError::invalid_request(message));
            }
        }
        let posted = form.get("client_secret")?;
        let (id, shown) = match (basic, form.get("client_id")?) {
            (Some(_), _) if posted.is_some() => {
                let message = "The client was authenticated in two ways.";
                return Err(OAuthError::invalid_request(message));
            }
            (Some((name, _)), Some(id)) if !name.eq_ignore_ascii_case(id) => {
                let message = "'client_id' is not the user name of the Authorization header.";
                return Err(OAuthError::invalid_request(message));
            }
            (Some((name, password)), _) => (name.as_str(), Some(password.as_str())),
            (None, Some(id)) => (id, posted),
            (None, None) => return Err(OAuthError::missing("client_id")),
        };
        // An unknown name is no guess of a secret: only clients that exist are counted.
        let client = self.find_client(id).await?;
        if let Some(shown) = shown {
            let elapsed = self.clock.elapsed();
            let sources = self.sources("client", &client.id, address, elapsed);
            self.sign_ins
                .begin(&sources, elapsed)
                .map_err(|wait| OAuthError::too_many(wait.as_secs().max(1)))?;
            if !self.is_secret(&client, shown) {
                return Err(OAuthError::wrong_secret());
            }
            self.sign_in_succeeded(&sources, elapsed);
        }
        Ok(Authenticated {
            client,
            confidential: shown.is_some(),
        })
    }

    /// The client with this id.
    pub(crate) async fn find_client(&self, id: &str) -> Result<ClientRecord, OAuthError> {
        let found = self.catalogue.client(id).await?;
        let found = found.filter(|client| client.id.eq_ignore_ascii_case(id));
        match found {
            Some(client) if client.id == PORTAL_CLIENT && !self.has_portal => {
                Err(OAuthError::unknown_client(id))
            }
            Some(client) => Ok(client),
            None if id == PORTAL_CLIENT && self.has_portal => self.portal_client().await,
            None => Err(OAuthError::unknown_client(id)),
        }
    }

    fn is_secret(&self, client: &ClientRecord, shown: &str) -> bool {
        let now = self.now();
        // Each is compared, so that the time does not tell which one was close.
        let good = client.secrets.iter().filter(|kept| {
            let alive = kept.expires.is_none_or(|expires| now < expires);
            secret::matches(shown, &kept.hash) && alive
        });
        good.count() > 0
    }
}
