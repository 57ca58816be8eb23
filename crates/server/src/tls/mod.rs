//! Encrypted connections: with certificates of one's own, or with those of a local authority made for this machine.

mod authority;
mod files;
mod renewal;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

pub(crate) use authority::how_to_trust;
use files::Files;
use renewal::{Current, Renewal};

use crate::config::Settings;

/// TLS as it was set up.
pub(crate) struct Tls {
    /// Takes connections.
    pub(crate) acceptor: TlsAcceptor,
    /// The local authority's certificate, where one was made.
    pub(crate) authority: Option<PathBuf>,
    /// What looks after the certificate's files, where they are one's own.
    pub(crate) renewal: Option<Renewal>,
}

/// Sets TLS up as the settings say; `None` where they ask for none. A certificate that is made is valid from `now` on.
pub(crate) fn open(settings: &Settings, now: Timestamp) -> anyhow::Result<Option<Tls>> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    match (&settings.tls_certificate, &settings.tls_key) {
        (Some(certificate), Some(key)) => {
            anyhow::ensure!(
                !settings.tls_dev,
                "`tls.dev` makes a certificate, and `tls.certificate` names another: set one of them"
            );
            let files = Files {
                certificate: certificate.clone(),
                key: key.clone(),
            };
            let every = settings.tls_reload;
            let (current, renewal) = Renewal::begin(files, provider.clone(), every)?;
            Ok(Some(Tls {
                acceptor: acceptor(provider, current)?,
                authority: None,
                renewal: Some(renewal),
            }))
        }
        (None, None) if settings.tls_dev => {
            let (authority, chain, key) = authority::development(&settings.data, now)?;
            let current = Current::new(CertifiedKey::from_der(chain, key, &provider)?);
            Ok(Some(Tls {
                acceptor: acceptor(provider, current)?,
                authority: Some(authority),
                renewal: None,
            }))
        }
        (None, None) if settings.tls_listen.is_some() => anyhow::bail!(
            "`tls.listen` needs a certificate: set `tls.certificate` and `tls.key`, or `tls.dev`"
        ),
        (None, None) => Ok(None),
        _ => anyhow::bail!("`tls.certificate` and `tls.key` belong together: set both"),
    }
}

/// Checks the settings as [`open`] does; makes no certificate.
///
/// # Errors
/// What is wrong with the settings, or with the files that they name.
pub(crate) fn check(settings: &Settings) -> anyhow::Result<()> {
    if settings.tls_certificate.is_none() && settings.tls_key.is_none() && settings.tls_dev {
        return Ok(());
    }
    open(settings, Timestamp::UNIX_EPOCH).map(|_| ())
}

fn acceptor(provider: Arc<CryptoProvider>, current: Arc<Current>) -> anyhow::Result<TlsAcceptor> {
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(current);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_fit_are_refused() {
        let open_with = |pairs: &[(&str, &str)]| {
            let mut settings = Settings::defaults().unwrap();
            for (key, value) in pairs {
                settings.set(key, value).unwrap();
            }
            open(&settings, Timestamp::UNIX_EPOCH)
                .map(|tls| tls.is_some())
                .map_err(|error| format!("{error:#}"))
        };
        assert_eq!(open_with(&[]), Ok(false));
        assert!(
            open_with(&[("tls.listen", "127.0.0.1:0")])
                .unwrap_err()
                .contains("tls.certificate")
        );
        assert!(
            open_with(&[("tls.certificate", "x.pem")])
                .unwrap_err()
                .contains("set both")
        );
        let missing = [
            ("tls.certificate", "no-such.pem"),
            ("tls.key", "no-such.pem"),
        ];
        assert!(open_with(&missing).unwrap_err().contains("no-such.pem"));
    }
}
