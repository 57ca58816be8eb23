//! Certificates that are renewed on disk are taken up while the server runs.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::files::{Files, Found};

/// The certificate that new connections get.
#[derive(Debug)]
pub(super) struct Current(RwLock<Arc<CertifiedKey>>);

impl Current {
    pub(super) fn new(key: CertifiedKey) -> Arc<Current> {
        Arc::new(Current(RwLock::new(Arc::new(key))))
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().clone())
    }
}

/// Looks after the files of a certificate.
pub(crate) struct Renewal {
    files: Files,
    /// What was found the last time, good or not: each finding is judged, and told, once.
    seen: Result<Found, String>,
    current: Arc<Current>,
    provider: Arc<CryptoProvider>,
    every: Duration,
}

impl Renewal {
    /// Reads the files for the first time, and says which certificate connections get from now on.
    ///
    /// # Errors
    /// What is wrong with the files.
    pub(super) fn begin(
        files: Files,
        provider: Arc<CryptoProvider>,
        every: Duration,
    ) -> anyhow::Result<(Arc<Current>, Renewal)> {
        let found = files.look().map_err(anyhow::Error::msg)?;
        let current = Current::new(files.parse(&found, &provider)?);
        let renewal = Renewal {
            files,
            seen: Ok(found),
            current: current.clone(),
            provider,
            every,
        };
        Ok((current, renewal))
    }

    /// Looks at the files again and again; completes only where that is switched off.
    pub(crate) async fn run(mut self) {
        while !self.every.is_zero() {
            tokio::time::sleep(self.every).await;
            // The files may lie on a disk that hangs: threads that serve do not wait for it.
            let files = self.files.clone();
            if let Ok(found) = tokio::task::spawn_blocking(move || files.look()).await {
                self.judge(found);
            }
        }
    }

    /// Takes a good finding up. With a bad one everything stays as it is: a connection with the old certificate is better
    /// than none.
    fn judge(&mut self, found: Result<Found, String>) {
        if found == self.seen {
            return;
        }
        let read = match &found {
            Ok(found) => self.files.parse(found, &self.provider),
            Err(error) => Err(anyhow::anyhow!("{error}")),
        };
        self.seen = found;
        let certificate = self.files.certificate.display();
        match read {
            Ok(key) => {
                *self.current.0.write() = Arc::new(key);
                tracing::info!(%certificate, "took up the renewed certificate");
            }
            Err(error) => tracing::error!(
                "the renewed certificate cannot be used, the one from before stays: {error:#}"
            ),
        }
    }
}
