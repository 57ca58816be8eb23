//! API keys: `hs_<id>_<secret><crc>`.
//!
//! The prefix lets secret scanners find them, the id finds the record, the checksum rejects mistyped keys without a
//! look-up, and 256 random bits need no slow hash.

use crate::secret::{self, DIGITS, NoRandom, SECRET_LENGTH, random_digits};

/// How every key begins, for scanners of secrets.
pub const PREFIX: &str = "hs_";
const ID_LENGTH: usize = 10;
/// 6 digits of base 62 hold 32 bits.
const CRC_LENGTH: usize = 6;

/// A new key. The text is shown once and never kept.
pub struct NewApiKey {
    /// Its public id.
    pub id: String,
    /// The key.
    pub text: String,
    /// What is kept of it.
    pub hash: Vec<u8>,
}

/// Makes a key from the system's random numbers.
pub fn generate() -> Result<NewApiKey, NoRandom> {
    let id = random_digits(ID_LENGTH, DIGITS)?;
    let body = format!("{PREFIX}{id}_{}", random_digits(SECRET_LENGTH, DIGITS)?);
    let text = format!("{body}{}", checksum(&body));
    Ok(NewApiKey {
        hash: secret::hash(&text),
        id,
        text,
    })
}

/// The id in a key that is whole by its form and checksum.
pub fn id_of(text: &str) -> Option<&str> {
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let lengths = id.len() == ID_LENGTH && secret.len() == SECRET_LENGTH + CRC_LENGTH;
    if !lengths || !text.is_ascii() {
        return None;
    }
    let (body, crc) = text.split_at_checked(text.len() - CRC_LENGTH)?;
    (checksum(body) == crc).then_some(id)
}

/// Whether a key is the one whose hash was kept. A key that is not even known (`None`) costs the same time.
pub fn matches(text: &str, kept: Option<&[u8]>) -> bool {
    const NO_KEY: [u8; 32] = [0; 32];
    secret::matches(text, kept.unwrap_or(&NO_KEY)) && kept.is_some()
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
        assert!(matches(&one.text, Some(&one.hash)));
        assert!(!matches(&one.text, Some(&other.hash)));
        assert!(!matches(&one.text, None));
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
        // The checksum is the CRC-32 of what is before it, in base 62.
        let body = format!("hs_0123456789_{}", "A".repeat(43));
        assert_eq!(id_of(&format!("{body}2eUESm")), Some("0123456789"));
        check(&format!("{body}2eUESn"));
        check(&format!("{body}1eUESm"));
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
        assert!(!matches(&hex, Some(&key.hash)));
    }
}
