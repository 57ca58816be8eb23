//! API keys: `hs_<id>_<secret><crc>`.
//!
//! The prefix lets secret scanners find them, the id finds the record, the checksum rejects mistyped keys without a
//! look-up, and 256 random bits need no slow hash.

use rand::TryRngCore;
use rand::rngs::OsRng;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const PREFIX: &str = "hs_";
const ID_LENGTH: usize = 10;
/// 43 digits of base 62 hold 256 bits.
const SECRET_LENGTH: usize = 43;
/// 6 digits of base 62 hold 32 bits.
const CRC_LENGTH: usize = 6;
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A new key. The text is shown once and never kept.
pub(crate) struct NewApiKey {
    /// Its public id.
    pub(crate) id: String,
    /// The key.
    pub(crate) text: String,
    /// What is kept of it.
    pub(crate) hash: Vec<u8>,
}

/// Makes a key from the system's random numbers.
pub(crate) fn generate() -> anyhow::Result<NewApiKey> {
    let id = random_digits(ID_LENGTH)?;
    let body = format!("{PREFIX}{id}_{}", random_digits(SECRET_LENGTH)?);
    let text = format!("{body}{}", checksum(&body));
    Ok(NewApiKey {
        hash: hash(&text),
        id,
        text,
    })
}

/// A random token of 256 bits.
pub(crate) fn random_token() -> anyhow::Result<String> {
    random_digits(SECRET_LENGTH)
}

/// The id in a key that is whole by its form and checksum.
pub(crate) fn id_of(text: &str) -> Option<&str> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let lengths = id.len() == ID_LENGTH && secret.len() == SECRET_LENGTH + CRC_LENGTH;
    if !lengths || !text.is_ascii() {
        return None;
    }
    let (body, crc) = text.split_at_checked(text.len() - CRC_LENGTH)?;
    (checksum(body) == crc).then_some(id)
}

/// What is kept of a key.
pub(crate) fn hash(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// Whether a key is the one whose hash was kept, in time that does not depend on where they differ.
pub(crate) fn matches(text: &str, kept: &[u8]) -> bool {
    hash(text).as_slice().ct_eq(kept).into()
}

/// Digits of base 62 without bias: bytes that would favour the first digits are thrown again.
fn random_digits(count: usize) -> anyhow::Result<String> {
    let mut text = String::with_capacity(count);
    let mut bytes = [0_u8; 64];
    while text.len() < count {
        OsRng
            .try_fill_bytes(&mut bytes)
            .map_err(|error| anyhow::anyhow!("the system gives no random numbers: {error}"))?;
        let digits = bytes
            .iter()
            .filter(|byte| **byte < 248)
            .filter_map(|byte| DIGITS.get(usize::from(byte % 62)));
        text.extend(
            digits
                .take(count - text.len())
                .map(|digit| char::from(*digit)),
        );
    }
    Ok(text)
}

fn checksum(body: &str) -> String {
    let mut crc = crc32fast::hash(body.as_bytes()) as usize;
    let mut text = [b'0'; CRC_LENGTH];
    for place in text.iter_mut().rev() {
        *place = DIGITS.get(crc % 62).copied().unwrap_or(b'0');
        crc /= 62;
    }
    text.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_id_and_matches_its_hash_only() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert_eq!(id_of(&one.text), Some(one.id.as_str()));
        assert!(matches(&one.text, &one.hash));
        assert!(!matches(&one.text, &other.hash));
        assert_ne!(one.text, other.text);
    }

    #[test]
    fn broken_keys_are_rejected_by_their_form() {
        let key = generate().unwrap().text;
        let check = |text: &str| assert_eq!(id_of(text), None, "{text}");
        check("");
        check("hs_");
        check(&key[..key.len() - 1]);
        check(&key[..13]);
        check(&format!("{key}0"));
        check(&key.replace("hs_", "HS_"));
        let swapped: String = key
            .chars()
            .map(|c| {
                if c.is_ascii_lowercase() {
                    c.to_ascii_uppercase()
                } else {
                    c
                }
            })
            .collect();
        check(&swapped);
    }

    #[test]
    fn the_hash_is_no_key() {
        let key = generate().unwrap();
        let hex: String = key.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(id_of(&hex), None);
        assert!(!matches(&hex, &key.hash));
    }
}
