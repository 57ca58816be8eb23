//! The portal: its built-in client, what only that client may ask for, and the links by which the owner of this machine signs in.

use hindsight_store::{ClientRecord, RoleRecord, StoreError, UserRecord};

use super::Issuer;
use super::error::OAuthError;
use super::scope::Wanted;
use super::session::NewSession;
use crate::claims::{MANAGE_SCOPE, PORTAL_CLIENT};
use crate::right::Right;
use crate::secret;

/// The path of the client's redirect address, at the origin by which the browser reaches the server.
const REDIRECT: &str = "/portal/";
/// The user that a link signs in: it has no password, and every right on every application.
const OWNER_ID: &str = "6c6f6361-6c20-4f77-8e65-720000000000";
/// Its name.
const OWNER: &str = "local owner";
/// A password's hash that no password has.
const NO_PASSWORD: &str = "none";

impl Issuer {
    /// The secret of a new link, good once and for ten minutes.
    ///
    /// # Errors
    /// Where the system gives no random numbers.
    pub fn new_link(&self) -> Result<String, OAuthError> {
        let text = secret::random()?;
        self.links.keep(&text, self.clock.elapsed());
        Ok(text)
    }

    /// Begins a session of the owner of this machine for who shows the secret of a link.
    ///
    /// # Errors
    /// `None` for a link that was used, has ended or was never given; [`OAuthError`] where the catalogue fails.
    pub async fn redeem_link(
        &self,
        text: &str,
        address: &str,
    ) -> Result<Option<NewSession>, OAuthError> {
        if !self.links.take(text, self.clock.elapsed()) {
            return Ok(None);
        }
        let owner = self.owner().await?;
        self.audit(&owner.name, "sign-in", "link", address).await?;
        self.begin(&owner).await.map(Some)
    }

    /// The owner of this machine as a user, created when it signs in for the first time.
    async fn owner(&self) -> Result<UserRecord, OAuthError> {
        if let Some(known) = self.catalogue.user(OWNER_ID).await? {
            return Ok(known);
        }
        let owner = UserRecord {
            id: OWNER_ID.to_owned(),
            name: OWNER.to_owned(),
            password: NO_PASSWORD.to_owned(),
            created: self.now(),
        };
        self.catalogue.create_user(&owner).await?;
        let role = RoleRecord {
            holder: owner.id.clone(),
            app: None,
            role: Right::Admin.name().to_owned(),
        };
        self.catalogue.grant_role(&role).await?;
        Ok(owner)
    }

    /// The portal's client, created when a browser asks for it for the first time.
    pub(super) async fn portal_client(&self) -> Result<ClientRecord, OAuthError> {
        let client = ClientRecord {
            id: PORTAL_CLIENT.to_owned(),
            name: "Hindsight portal".to_owned(),
            public: true,
            created: self.now(),
            redirects: Vec::new(),
            secrets: Vec::new(),
        };
        match self.catalogue.create_client(&client).await {
            // Another request was faster.
            Ok(()) | Err(StoreError::NameTaken { .. }) => Ok(client),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether an address is the portal's at the origin by which the browser reaches the server.
    pub(super) fn is_portal_redirect(&self, client: &ClientRecord, given: &str) -> bool {
        let base = self.base();
        let origins = [self.origin.as_deref(), Some(&*base)];
        let own = origins.into_iter().flatten();
        client.id == PORTAL_CLIENT
            && own
                .into_iter()
                .any(|origin| given.strip_prefix(origin) == Some(REDIRECT))
    }
}

/// Refuses the scope that manages applications and keys to all clients but the portal.
pub(super) fn check_scope(
    wanted: Option<&Wanted>,
    client: &ClientRecord,
) -> Result<(), OAuthError> {
    let manages = wanted.is_some_and(|wanted| wanted.scope.split(' ').any(|s| s == MANAGE_SCOPE));
    if manages && client.id != PORTAL_CLIENT {
        let message = format!("The scope {MANAGE_SCOPE} is for the portal alone.");
        return Err(OAuthError::invalid_scope(message));
    }
    Ok(())
}
