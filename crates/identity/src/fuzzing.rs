//! Arbitrary texts through the real validation of tokens: what the fuzz target `jwt` and a test over mutated tokens call.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::claims::{self, Expected};
use crate::jwt::{self, TokenError, VerifyingKey, verifying_keys};

/// Seconds since 1970 of the checks.
const NOW: i64 = 1_800_000_000;
/// The public key of a pair whose private key was discarded, and a key of an elliptic curve.
static KEYS: LazyLock<Vec<VerifyingKey>> = LazyLock::new(|| verifying_keys(&key_set()));

fn key_set() -> Value {
    json!({ "keys": [
        { "kty": "RSA", "kid": "r", "e": "AQAB", "n": MODULUS },
        { "kty": "EC", "kid": "e", "crv": "P-256",
            "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM" },
    ]})
}

/// The modulus of the example in RFC 7515, appendix A.2.
const MODULUS: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

/// Validates a text as a bearer token, as the issuer does with its own.
///
/// # Errors
/// The reason for the refusal of the token. Every token is refused, because the private keys were discarded.
pub fn token(text: &str) -> Result<(), TokenError> {
    let parsed = jwt::parse(text)?;
    // A token without a key id can only be checked by a set of one key.
    let signature = parsed
        .check_signature(&KEYS)
        .or_else(|_| parsed.check_signature(KEYS.get(..1).unwrap_or_default()));
    // The claims are checked too where the signature is wrong, so that both are reached.
    let expected = Expected {
        issuers: &["https://idp/t/"],
        audiences: &["https://api".to_owned()],
        tenant: Some("t"),
        now: NOW,
    };
    let claims = claims::check(&parsed.claims, &expected);
    let _ = claims::rights(&parsed.claims);
    signature.and(claims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    fn seeds() -> Vec<String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/jwt");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let seeds = files
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap());
        seeds.map(|text| text.trim_end().to_owned()).collect()
    }

    #[test]
    fn the_seeds_reach_the_signature_and_the_claims() {
        let verdicts: Vec<_> = seeds().iter().map(|seed| token(seed)).collect();
        assert_eq!(KEYS.len(), 2);
        assert!(
            verdicts.contains(&Err(TokenError::Signature)),
            "{verdicts:?}"
        );
        assert!(verdicts.contains(&Err(TokenError::Key)), "{verdicts:?}");
        assert!(
            verdicts.contains(&Err(TokenError::Malformed)),
            "{verdicts:?}"
        );
    }

    /// The example of RFC 7515 is signed with its key: its signature is good, and its issuer is not trusted.
    #[test]
    fn a_good_signature_alone_is_not_enough() {
        let verdicts: Vec<_> = seeds().iter().map(|seed| token(seed)).collect();
        assert!(verdicts.contains(&Err(TokenError::Issuer)), "{verdicts:?}");
    }

    #[test]
    fn mutated_tokens_are_refused() {
        let mut random = StdRng::seed_from_u64(7);
        let seeds = seeds();
        for _ in 0..20_000 {
            let mut text = seeds[random.random_range(0..seeds.len())]
                .clone()
                .into_bytes();
            for _ in 0..random.random_range(1..5) {
                let at = random.random_range(0..text.len());
                match random.random_range(0..4) {
                    0 => text[at] = random.random_range(b'!'..=b'~'),
                    1 => text.insert(at, b".-_=Ae"[random.random_range(0..6)]),
                    2 => text.truncate(at + 1),
                    _ => {
                        let part = text[at..].to_vec();
                        text.extend(part);
                    }
                }
            }
            let text = String::from_utf8(text).unwrap();
            assert!(token(&text).is_err(), "{text}");
        }
    }
}
