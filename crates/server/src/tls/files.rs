//! A certificate and its key in files, which others renew.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

/// Where the two files are.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// What the two files hold. The bytes themselves are compared: a file's time says nothing where links are exchanged.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Found {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Files {
    /// Reads both files.
    ///
    /// # Errors
    /// Which file cannot be read, in a sentence.
    pub(super) fn look(&self) -> Result<Found, String> {
        let read = |what: &str, path: &Path| {
            std::fs::read(path)
                .map_err(|error| format!("cannot read the {what} {}: {error}", path.display()))
        };
        Ok(Found {
            certificate: read("certificate", &self.certificate)?,
            key: read("private key", &self.key)?,
        })
    }

    /// What the files hold, ready to use.
    ///
    /// # Errors
    /// Which file is wrong, or that the two do not belong together.
    pub(super) fn parse(
        &self,
        found: &Found,
        provider: &CryptoProvider,
    ) -> anyhow::Result<CertifiedKey> {
        let chain = chain(&found.certificate, &self.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&found.key)
            .map_err(|error| anyhow::anyhow!("{error}"))
            .with_context(|| format!("{} holds no private key", self.key.display()))?;
        CertifiedKey::from_der(chain, key, provider).with_context(|| {
            let (certificate, key) = (self.certificate.display(), self.key.display());
            format!("the certificate {certificate} and the private key {key} do not fit")
        })
    }
}

/// The certificates of a PEM text, the server's first. `path` is for messages.
pub(super) fn chain(pem: &[u8], path: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| anyhow::anyhow!("{error}"))
        .with_context(|| format!("{} holds no certificate", path.display()))?;
    anyhow::ensure!(!chain.is_empty(), "{} holds no certificate", path.display());
    Ok(chain)
}
