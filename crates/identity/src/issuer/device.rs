//! Signing in on another device (RFC 8628).

use super::Issuer;
use super::error::OAuthError;
use super::form::Form;
use super::pending::{DEVICE_INTERVAL, DEVICE_LIFETIME, Device, SignedIn};
use super::portal::check_scope;
use super::scope::{Version, Wanted};
use crate::attempts::Source;
use crate::secret;

/// Letters of user codes: no vowels, so no words, and nothing that looks like a digit (RFC 8628 §6.1).
const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ";
/// 20^9 codes.
const USER_CODE_LENGTH: usize = 9;

/// What a device is told to show.
#[derive(Debug, Clone)]
pub struct DeviceReply {
    /// What the person types in.
    pub user_code: String,
    /// What the device asks with.
    pub device_code: String,
    /// Where the person types it in.
    pub verification_url: String,
    /// Seconds that the codes live.
    pub expires_in: u64,
    /// Seconds between two questions.
    pub interval: u64,
    /// What the device may show as it is.
    pub message: String,
}

impl Issuer {
    /// Begins the sign-in of a device.
    ///
    /// # Errors
    /// What the client is told.
    pub async fn start_device(
        &self,
        form: &Form,
        version: Version,
    ) -> Result<DeviceReply, OAuthError> {
        let client = self.find_client(form.need("client_id")?).await?;
        if !client.public {
            let message = "The client must be allowed to sign people in without a secret (`hindsight client create --public`).";
            return Err(OAuthError::unauthorized_client(message));
        }
        let wanted = Wanted::read(form, version, &self.audiences())?;
        check_scope(wanted.as_ref(), &client)?;
        let named = |name: &str| {
            let scope = form.get("scope").ok().flatten().unwrap_or_default();
            scope.split(' ').any(|given| given == name)
        };
        let openid = named("openid") || wanted.as_ref().is_some_and(|wanted| wanted.openid);
        let offline =
            named("offline_access") || wanted.as_ref().is_some_and(|wanted| wanted.offline);
        if wanted.is_none() && !openid {
            return Err(OAuthError::missing(match version {
                Version::V1 => "resource",
                Version::V2 => "scope",
            }));
        }
        let device_code = secret::random()?;
        let user_code = secret::random_digits(USER_CODE_LENGTH, LETTERS)?;
        let now = self.clock.elapsed();
        let device = Device::new(
            (client.id, client.name),
            wanted,
            (openid, offline),
            version,
            now,
        );
        if !self.devices.keep(&device_code, &user_code, device, now) {
            return Err(OAuthError::too_many(60));
        }
        let verification_url = format!("{}/devicelogin", self.base());
        Ok(DeviceReply {
            message: format!(
                "To sign in, use a web browser to open the page {verification_url} and enter the code {user_code} to authenticate."
            ),
            user_code,
            device_code,
            verification_url,
            expires_in: DEVICE_LIFETIME.as_secs(),
            interval: DEVICE_INTERVAL.as_secs(),
        })
    }

    /// The device that waits under a code that a person typed.
    ///
    /// # Errors
    /// Where an address has guessed too often.
    pub fn find_device(&self, typed: &str, address: &str) -> Result<Option<Device>, OAuthError> {
        let now = self.clock.elapsed();
        let source = [Source {
            name: format!("device {address}"),
            limit: self.sign_ins.limit(),
        }];
        self.sign_ins
            .begin(&source, now)
            .map_err(|wait| OAuthError::too_many(wait.as_secs().max(1)))?;
        let found = self.devices.find(&plain(typed), now);
        if found.is_some() {
            self.sign_ins.succeeded(&source);
        }
        Ok(found)
    }

    /// A person says yes (`Some`) or no to a device; false where no such device waits.
    pub fn decide_device(&self, typed: &str, who: Option<SignedIn>) -> bool {
        self.devices
            .decide(&plain(typed), who, self.clock.elapsed())
    }
}

/// A code as it was given, whatever people put between its letters.
fn plain(typed: &str) -> String {
    let letters = typed.chars().filter(char::is_ascii_alphabetic).take(32);
    letters.map(|letter| letter.to_ascii_uppercase()).collect()
}
