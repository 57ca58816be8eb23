//! The secret that the nodes of a catalogue share.

use std::fmt;
use std::path::Path;

use anyhow::{Context, bail};
use axum::http::HeaderMap;
use axum::http::{HeaderValue, header};
use sha2::{Digest, Sha256};

/// The least characters of a secret.
const SHORTEST: usize = 16;

/// The secret. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct NodeSecret(String);

impl NodeSecret {
    /// A secret from its text; `None` for an empty one.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Option<NodeSecret>> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let is_header = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.len() < SHORTEST || !is_header {
            bail!(
                "a secret of nodes has at least {SHORTEST} printable characters of ASCII and no space"
            );
        }
        Ok(Some(NodeSecret(text.to_owned())))
    }

    /// The secret in a file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<NodeSecret> {
        let text = std::fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let secret = NodeSecret::parse(&text).with_context(|| path.display().to_string())?;
        secret.with_context(|| format!("{} is empty", path.display()))
    }

    /// The header of a request to another node.
    pub(super) fn header(&self) -> anyhow::Result<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Whether a request has the secret. The time of the comparison does not depend on it.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(header::AUTHORIZATION);
        let shown = shown.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        // The place where two digests differ reveals nothing of the texts.
        shown.is_some_and(|shown| Sha256::digest(shown) == Sha256::digest(&self.0))
    }
}

impl fmt::Debug for NodeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NodeSecret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_long_and_not_printed() {
        assert_eq!(NodeSecret::parse(" \n").unwrap(), None);
        for bad in [
            "short",
            "with a space in the middle",
            "päßwörter-with-umlauts",
        ] {
            assert!(NodeSecret::parse(bad).is_err(), "{bad}");
        }
        let secret = NodeSecret::parse("0123456789abcdef\n").unwrap().unwrap();
        assert!(!format!("{secret:?}").contains("0123"));
        let mut headers = HeaderMap::new();
        assert!(!secret.is_in(&headers));
        headers.insert(
            header::AUTHORIZATION,
            HeaderValue::from_static("Bearer 0123456789abcdeF"),
        );
        assert!(!secret.is_in(&headers));
        headers.insert(header::AUTHORIZATION, secret.header().unwrap());
        assert!(secret.is_in(&headers));
    }
}
