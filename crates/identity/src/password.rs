//! Passwords of people: Argon2id, a few at a time.

use std::sync::Arc;

use argon2::Config;
use rand::TryRngCore;
use rand::rngs::OsRng;
use tokio::sync::Semaphore;

/// Hashes that are computed at once: each takes 19 MiB and tens of milliseconds, and nobody may spend all of them.
const AT_ONCE: usize = 2;
/// Comparisons that may wait for one of these.
const WAITING: usize = 64;
/// The shortest password that is taken.
const SHORTEST: usize = 8;
/// The longest: longer texts are no passwords.
const LONGEST: usize = 1024;

/// Why a password cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// It has too few or too many characters.
    #[error("a password has {SHORTEST} to {LONGEST} bytes")]
    Length,
    /// It could not be hashed.
    #[error("the password cannot be hashed: {0}")]
    Hash(String),
}

/// Too many passwords are being compared; try again later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many passwords are being compared")]
pub struct Busy;

/// Computes and compares hashes of passwords.
#[derive(Debug, Clone)]
pub struct Passwords {
    slots: Arc<Semaphore>,
    /// Those that are compared and those that wait.
    places: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Passwords {
        Passwords {
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            places: Arc::new(Semaphore::new(AT_ONCE + WAITING)),
        }
    }
}

impl Passwords {
    /// What is kept of a password: Argon2id with 19 MiB and 2 passes, as OWASP recommends, in PHC form.
    ///
    /// # Errors
    /// [`PasswordError`] where it is too short or too long.
    pub fn hash(password: &str) -> Result<String, PasswordError> {
        if !(SHORTEST..=LONGEST).contains(&password.len()) {
            return Err(PasswordError::Length);
        }
        let failed = |error: String| PasswordError::Hash(error);
        let mut salt = [0_u8; 16];
        OsRng
            .try_fill_bytes(&mut salt)
            .map_err(|error| failed(error.to_string()))?;
        argon2::hash_encoded(password.as_bytes(), &salt, &Config::owasp2())
            .map_err(|error| failed(error.to_string()))
    }

    /// Whether a password is the one whose hash was kept. Where there is none (`None`) it takes as long to say no.
    ///
    /// # Errors
    /// [`Busy`] where too many comparisons wait.
    pub async fn matches(&self, password: &str, kept: Option<String>) -> Result<bool, Busy> {
        let _place = self.places.try_acquire().map_err(|_| Busy)?;
        let _slot = self.slots.acquire().await.map_err(|_| Busy)?;
        let known = kept.is_some();
        let kept = kept.unwrap_or_else(|| NOBODY.to_owned());
        let password = password.to_owned();
        let compare = move || {
            password.len() <= LONGEST
                && argon2::verify_encoded(&kept, password.as_bytes()).unwrap_or(false)
        };
        Ok(tokio::task::spawn_blocking(compare).await.unwrap_or(false) && known)
    }
}

/// The hash of a password that nobody knows, compared where there is no user.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5LW5vYm9keS0$zLoiA6mJ6Tka8/cl/fyNVBqENxJdUSfY/T3EkKFb4sY";

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_matches_its_own_hash_only() {
        let passwords = Passwords::default();
        let kept = Passwords::hash("correct horse").unwrap();
        assert!(
            kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{kept}"
        );
        let matches = async |password: &str, kept| passwords.matches(password, kept).await;
        assert_eq!(matches("correct horse", Some(kept.clone())).await, Ok(true));
        assert_eq!(matches("correct horsf", Some(kept)).await, Ok(false));
        assert_eq!(matches("correct horse", None).await, Ok(false));
        assert!(
            argon2::verify_encoded(NOBODY, b"x").is_ok(),
            "nobody's hash costs as much"
        );
    }

    #[tokio::test]
    async fn so_many_comparisons_wait_and_further_ones_are_refused() {
        let passwords = Passwords::default();
        let held = passwords
            .places
            .clone()
            .acquire_many_owned(65)
            .await
            .unwrap();
        assert_eq!(passwords.matches("x", None).await, Ok(false));
        let last = passwords.places.clone().acquire_owned().await.unwrap();
        assert_eq!(passwords.matches("x", None).await, Err(Busy));
        drop((held, last));
        assert_eq!(passwords.matches("x", None).await, Ok(false));
    }

    #[test]
    fn short_and_huge_passwords_are_refused() {
        assert_eq!(Passwords::hash("1234567"), Err(PasswordError::Length));
        assert_eq!(
            Passwords::hash(&"x".repeat(1025)),
            Err(PasswordError::Length)
        );
        assert_ne!(Passwords::hash("12345678"), Passwords::hash("12345678"));
    }
}
