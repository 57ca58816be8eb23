//! JSON Web Tokens: their parts, their signatures (RFC 7515, RFC 7519), and the keys that check them (RFC 7517).
//!
//! The signature's mathematics is the `jsonwebtoken` crate's. What counts here is which key and which algorithm may
//! check a token (RFC 8725 §3.1, §3.2): both are ours to say, never the token's.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// Bytes of a token that is looked at.
const LONGEST: usize = 16 << 10;
/// Bytes of the smallest RSA modulus that is trusted (2048 bits, RFC 7518 §3.3).
const SMALLEST_RSA: usize = 256;
/// Bytes of the largest: a huge key would make every check slow.
const LARGEST_RSA: usize = 1024;
/// The algorithms that tokens may be signed with.
const ALLOWED: [(&str, Algorithm); 3] = [
    ("RS256", Algorithm::RS256),
    ("PS256", Algorithm::PS256),
    ("ES256", Algorithm::ES256),
];

/// Why a token is not valid. Each is a 401 `invalid_token` except [`TokenError::Unreachable`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is not a JSON Web Token.
    #[error("it is not a signed JSON Web Token")]
    Malformed,
    /// The header has a member or an algorithm that is not allowed.
    #[error("its header has {0}, which is not accepted")]
    Header(&'static str),
    /// No such issuer is trusted.
    #[error("its issuer is not trusted here")]
    Issuer,
    /// The issuer has no key with this id.
    #[error("it is signed with an unknown key")]
    Key,
    /// The signature is wrong.
    #[error("its signature is wrong")]
    Signature,
    /// It lacks a claim.
    #[error("it lacks the claim `{0}`")]
    Missing(&'static str),
    /// Its audience is another one.
    #[error("it is for another audience")]
    Audience,
    /// It is of another tenant.
    #[error("it is of another tenant")]
    Tenant,
    /// It has expired.
    #[error("it has expired")]
    Expired,
    /// It is not valid yet.
    #[error("it is not valid yet")]
    NotYet,
    /// It was revoked, or its holder was deleted.
    #[error("it was revoked")]
    Revoked,
    /// The issuer's keys could never be fetched, so the token cannot be verified.
    #[error("the token's issuer cannot be reached")]
    Unreachable,
}

/// The header's members that count. `jku`, `x5u`, `x5c` and `jwk` are not looked at: a token does not bring its own key.
#[derive(Debug, Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<Value>,
}

/// A token's parts, not yet checked.
#[derive(Debug)]
pub(crate) struct Parsed<'t> {
    pub(crate) algorithm: Algorithm,
    pub(crate) key_id: Option<String>,
    pub(crate) claims: Value,
    signed: &'t str,
    signature: &'t str,
}

/// Takes a token apart and refuses what its header may not say.
pub(crate) fn parse(token: &str) -> Result<Parsed<'_>, TokenError> {
    if token.len() > LONGEST {
        return Err(TokenError::Malformed);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(TokenError::Malformed)?;
    let header: Header = json(header)?;
    let allowed = ALLOWED.iter().find(|(name, _)| *name == header.alg);
    let (_, algorithm) = allowed.ok_or(TokenError::Header("an algorithm (`alg`)"))?;
    if header.crit.is_some() {
        return Err(TokenError::Header("critical extensions (`crit`)"));
    }
    if !header.typ.as_deref().is_none_or(is_access_token_type) {
        return Err(TokenError::Header("a type (`typ`)"));
    }
    Ok(Parsed {
        algorithm: *algorithm,
        key_id: header.kid,
        claims: json(claims)?,
        signed,
        signature,
    })
}

/// `JWT`, or `at+jwt` (RFC 9068 §4), both also in the long form.
fn is_access_token_type(typ: &str) -> bool {
    let typ = typ.to_ascii_lowercase();
    matches!(
        typ.strip_prefix("application/").unwrap_or(&typ),
        "jwt" | "at+jwt"
    )
}

fn json<T: for<'de> Deserialize<'de>>(part: &str) -> Result<T, TokenError> {
    let bytes = URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| TokenError::Malformed)?;
    serde_json::from_slice(&bytes).map_err(|_| TokenError::Malformed)
}

impl Parsed<'_> {
    /// A claim that is a text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.claims.get(name)?.as_str()
    }

    /// Checks the signature with the one key that may have made it.
    pub(crate) fn check_signature(&self, keys: &[VerifyingKey]) -> Result<(), TokenError> {
        let key = find(keys, self.key_id.as_deref()).ok_or(TokenError::Key)?;
        if !key.algorithms.contains(&self.algorithm) {
            return Err(TokenError::Header(
                "an algorithm (`alg`) that its key is not for",
            ));
        }
        let good = jsonwebtoken::crypto::verify(
            self.signature,
            self.signed.as_bytes(),
            &key.key,
            self.algorithm,
        );
        if good.unwrap_or(false) {
            Ok(())
        } else {
            Err(TokenError::Signature)
        }
    }
}

/// The key with this id; a token without one can only mean the key of a set that has no other.
pub(crate) fn find<'k>(keys: &'k [VerifyingKey], id: Option<&str>) -> Option<&'k VerifyingKey> {
    match (id, keys) {
        (Some(id), _) => keys.iter().find(|key| key.id.as_deref() == Some(id)),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

/// A public key with the algorithms that it may check.
#[derive(Clone)]
pub(crate) struct VerifyingKey {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

impl std::fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VerifyingKey({:?}, {:?})", self.id, self.algorithms)
    }
}

/// The keys of a set that can be trusted; others in it are passed over, as RFC 7517 §5 asks.
pub(crate) fn verifying_keys(set: &Value) -> Vec<VerifyingKey> {
    let keys = set.get("keys").and_then(Value::as_array);
    keys.into_iter()
        .flatten()
        .filter_map(verifying_key)
        .collect()
}

fn verifying_key(value: &Value) -> Option<VerifyingKey> {
    let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
    let common = &jwk.common;
    let signs = matches!(common.public_key_use, None | Some(PublicKeyUse::Signature));
    let verifies = common
        .key_operations
        .as_ref()
        .is_none_or(|operations| operations.contains(&KeyOperations::Verify));
    if !signs || !verifies {
        return None;
    }
    let mut algorithms = match &jwk.algorithm {
        AlgorithmParameters::RSA(rsa) => {
            let modulus = URL_SAFE_NO_PAD.decode(&rsa.n).ok()?;
            let bytes = modulus.iter().skip_while(|byte| **byte == 0).count();
            if !(SMALLEST_RSA..=LARGEST_RSA).contains(&bytes) {
                return None;
            }
            vec![Algorithm::RS256, Algorithm::PS256]
        }
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
            vec![Algorithm::ES256]
        }
        _ => return None,
    };
    if let Some(named) = value.get("alg").and_then(Value::as_str) {
        algorithms.retain(|algorithm| {
            ALLOWED
                .iter()
                .any(|(name, a)| a == algorithm && *name == named)
        });
    }
    Some(VerifyingKey {
        id: common.key_id.clone(),
        algorithms,
        key: DecodingKey::from_jwk(&jwk).ok()?,
    })
    .filter(|key| !key.algorithms.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rsa(bytes: usize) -> Value {
        let mut modulus = vec![0xff_u8; bytes];
        // A leading zero does not make a key longer.
        modulus.insert(0, 0);
        json!({"kty": "RSA", "kid": "k", "n": URL_SAFE_NO_PAD.encode(modulus), "e": "AQAB"})
    }

    #[test]
    fn keys_that_cannot_be_trusted_are_passed_over() {
        let count = |key: Value| verifying_keys(&json!({ "keys": [key] })).len();
        let with = |name: &str, value: Value| {
            let mut key = rsa(256);
            key[name] = value;
            key
        };
        assert_eq!(count(rsa(256)), 1);
        assert_eq!(count(rsa(255)), 0, "under 2048 bits");
        assert_eq!(count(rsa(1025)), 0, "over 8192 bits");
        assert_eq!(count(with("use", json!("enc"))), 0);
        assert_eq!(count(with("key_ops", json!(["encrypt"]))), 0);
        assert_eq!(count(with("key_ops", json!(["verify"]))), 1);
        assert_eq!(count(with("alg", json!("RS512"))), 0);
        assert_eq!(count(with("alg", json!("PS256"))), 1);
        assert_eq!(
            count(json!({"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"})),
            0
        );
        assert_eq!(
            count(json!({"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"})),
            0
        );
        assert_eq!(count(json!({"kty": "future"})), 0);
        assert!(verifying_keys(&json!({"keys": "none"})).is_empty());
    }

    #[test]
    fn a_token_without_a_key_id_means_the_only_key() {
        let one = verifying_keys(&json!({ "keys": [rsa(256)] }));
        let two = verifying_keys(&json!({ "keys": [rsa(256), rsa(256)] }));
        assert!(find(&one, None).is_some());
        assert!(find(&two, None).is_none());
        assert!(find(&two, Some("k")).is_some());
        assert!(find(&one, Some("other")).is_none());
    }

    #[test]
    fn only_types_of_access_tokens_are_taken() {
        let header = |value: Value| {
            let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            parse(&format!("{}.{}.x", part(&value), part(&json!({})))).map(|_| ())
        };
        assert_eq!(header(json!({"alg": "RS256"})), Ok(()));
        assert_eq!(header(json!({"alg": "ES256", "typ": "at+JWT"})), Ok(()));
        assert_eq!(
            header(json!({"alg": "RS256", "typ": "application/jwt"})),
            Ok(())
        );
        assert!(header(json!({"alg": "RS256", "typ": "logout+jwt"})).is_err());
        assert!(header(json!({"alg": "none"})).is_err());
        assert!(header(json!({"alg": "HS256"})).is_err());
        assert!(header(json!({"alg": "RS256", "crit": ["exp"]})).is_err());
        assert!(header(json!({"typ": "JWT"})).is_err());
    }

    #[test]
    fn longer_tokens_are_refused_before_they_are_read() {
        let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let begin = format!("{}.{}.", part(json!({"alg": "ES256"})), part(json!({})));
        let token = |length: usize| format!("{begin}{}", "A".repeat(length - begin.len()));
        assert!(parse(&token(LONGEST)).is_ok());
        for longer in [LONGEST + 1, 2 * LONGEST] {
            assert_eq!(parse(&token(longer)).unwrap_err(), TokenError::Malformed);
        }
    }
}
