//! Random secrets, and what is kept of them.

use rand::TryRngCore;
use rand::rngs::OsRng;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// The system gives no random numbers: nothing can be made that must be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers: {0}")]
pub struct NoRandom(String);

/// The digits of base 62.
pub(crate) const DIGITS: &[u8; 62] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 43 digits of base 62 hold 256 bits.
pub(crate) const SECRET_LENGTH: usize = 43;

/// A secret of 256 random bits, in digits of base 62.
pub fn random() -> Result<String, NoRandom> {
    random_digits(SECRET_LENGTH, DIGITS)
}

/// A new random id (UUID of version 4). Ids and secrets come from the system's random source and from nowhere else: what must
/// be unpredictable cannot be injected.
pub fn new_id() -> Uuid {
    Uuid::new_v4()
}

/// Random digits without bias: bytes that would favour the first digits are thrown again.
pub(crate) fn random_digits(count: usize, digits: &[u8]) -> Result<String, NoRandom> {
    let mut text = String::with_capacity(count);
    let mut bytes = [0_u8; 64];
    let fair = 256 - 256 % digits.len().max(1);
    while text.len() < count {
        OsRng
            .try_fill_bytes(&mut bytes)
            .map_err(|error| NoRandom(error.to_string()))?;
        let drawn = bytes
            .iter()
            .map(|byte| usize::from(*byte))
            .filter(|byte| *byte < fair)
            .filter_map(|byte| digits.get(byte % digits.len()));
        text.extend(
            drawn
                .take(count - text.len())
                .map(|digit| char::from(*digit)),
        );
    }
    Ok(text)
}

/// What is kept of a secret of 256 random bits: so many need no slow hash.
pub fn hash(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// Whether a secret is the one whose hash was kept, in time that does not depend on where they differ.
pub fn matches(text: &str, kept: &[u8]) -> bool {
    hash(text).as_slice().ct_eq(kept).into()
}

/// Whether two secrets are equal, in time that does not depend on where they differ.
pub fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_drawn_evenly_and_in_number() {
        for count in [0, 1, 43, 64, 65, 1000] {
            assert_eq!(random_digits(count, DIGITS).unwrap().len(), count);
        }
        assert_ne!(random().unwrap(), random().unwrap());
        // A byte has one value more than there are digits here. If it were not thrown again, the first digit came twice as often.
        let mut digits = [b'b'; 255];
        digits[0] = b'a';
        let text = random_digits(100_000, &digits).unwrap();
        let first = text.chars().filter(|digit| *digit == 'a').count();
        assert!((250..550).contains(&first), "{first} of 100,000");
        // With 62 digits, 8 values of a byte are thrown again: the first four digits have 16 of the others.
        let text = random_digits(100_000, DIGITS).unwrap();
        let first = text.chars().filter(|digit| "0123".contains(*digit)).count();
        assert!((6000..6900).contains(&first), "{first} of 100,000");
    }

    #[test]
    fn secrets_are_compared_whole() {
        let kept = hash("secret");
        assert_eq!(kept.len(), 32);
        assert!(matches("secret", &kept));
        assert!(!matches("secreu", &kept));
        assert!(!matches("secret", &kept[..31]));
        assert!(same("secret", "secret"));
        assert!(!same("secret", "secreu") && !same("secret", "secre"));
    }
}
