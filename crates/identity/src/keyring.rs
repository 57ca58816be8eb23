//! The embedded issuer's own keys: RSA 2048, made when they are first needed and renewed every 90 days.

use std::sync::Arc;

use hindsight_store::{Catalogue, SigningKeyRecord, StoreError, TICKS_PER_HOUR};
use jsonwebtoken::jwk::{Jwk, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::jwt::{VerifyingKey, verifying_keys};

/// How long a key is used for signing.
const RENEWED_AFTER: i64 = 90 * 24 * TICKS_PER_HOUR;
/// How long a key is published after it stopped signing: longer than any token lives.
const PUBLISHED_AFTER: i64 = 2 * 24 * TICKS_PER_HOUR;

/// Why there is no key.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KeyError {
    /// The catalogue failed.
    #[error("the catalogue cannot be read: {0}")]
    Catalogue(Arc<StoreError>),
    /// A key could not be made or read, or did not sign.
    #[error("a signing key cannot be used: {0}")]
    Key(String),
}

impl From<StoreError> for KeyError {
    fn from(error: StoreError) -> KeyError {
        KeyError::Catalogue(Arc::new(error))
    }
}

impl KeyError {
    fn of(error: impl std::fmt::Display) -> KeyError {
        KeyError::Key(error.to_string())
    }
}

/// The key that signs now and those that may have signed.
pub(crate) struct Keyring {
    id: String,
    created: i64,
    /// The version of the catalogue that the keys were read of.
    pub(crate) version: i64,
    signing: EncodingKey,
    pub(crate) verifying: Vec<VerifyingKey>,
    pub(crate) public: Value,
}

impl Keyring {
    /// Reads the keys; makes one where there is none that may still sign.
    pub(crate) async fn open(catalogue: &Catalogue, now: i64) -> Result<Keyring, KeyError> {
        let version = catalogue.version().await?;
        let mut records = catalogue.signing_keys().await?;
        if records
            .first()
            .is_none_or(|newest| now >= newest.created.saturating_add(RENEWED_AFTER))
        {
            let record = tokio::task::spawn_blocking(move || generate(now))
                .await
                .map_err(KeyError::of)??;
            catalogue.create_signing_key(&record).await?;
            let oldest = now.saturating_sub(RENEWED_AFTER + PUBLISHED_AFTER);
            catalogue.delete_signing_keys(oldest).await?;
            records.retain(|record| record.created >= oldest);
            records.insert(0, record);
        }
        let newest = records
            .first()
            .ok_or_else(|| KeyError::of("none was kept"))?;
        let mut keys = Vec::with_capacity(records.len());
        for record in &records {
            keys.push(serde_json::to_value(public(record)?).map_err(KeyError::of)?);
        }
        let set = json!({ "keys": keys });
        Ok(Keyring {
            id: newest.id.clone(),
            created: newest.created,
            version,
            signing: EncodingKey::from_rsa_pem(newest.pem.as_bytes()).map_err(KeyError::of)?,
            verifying: verifying_keys(&set),
            public: set,
        })
    }

    /// Whether another key should sign by now.
    pub(crate) fn is_old(&self, now: i64) -> bool {
        now >= self.created.saturating_add(RENEWED_AFTER)
    }

    /// Signs claims.
    pub(crate) fn sign(&self, claims: &Value) -> Result<String, KeyError> {
        let mut header = Header::new(Algorithm::RS256);
        header.kid = Some(self.id.clone());
        jsonwebtoken::encode(&header, claims, &self.signing).map_err(KeyError::of)
    }
}

fn generate(now: i64) -> Result<SigningKeyRecord, KeyError> {
    let pair = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048)
        .map_err(KeyError::of)?;
    let mut record = SigningKeyRecord {
        id: String::new(),
        pem: pair.serialize_pem(),
        created: now,
    };
    record.id = public(&record)?.thumbprint(ThumbprintHash::SHA256);
    Ok(record)
}

/// The public half, named by its thumbprint (RFC 7638).
fn public(record: &SigningKeyRecord) -> Result<Jwk, KeyError> {
    let key = EncodingKey::from_rsa_pem(record.pem.as_bytes()).map_err(KeyError::of)?;
    let mut jwk = Jwk::from_encoding_key(&key, Algorithm::RS256).map_err(KeyError::of)?;
    jwk.common.key_id = Some(record.id.clone());
    jwk.common.public_key_use = Some(PublicKeyUse::Signature);
    Ok(jwk)
}
