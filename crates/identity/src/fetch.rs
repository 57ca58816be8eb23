//! Fetches an issuer's documents, and nothing else, with limits on size, time and addresses (`attacks.md` 14).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect::Policy};
use serde_json::Value;
use url::{Host, Url};

/// The timeout of a document.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of a document.
const LARGEST: usize = 1 << 20;

/// Why a document was not fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Requests to this address are not allowed.
    #[error("'{0}' may not be requested: {1}")]
    Forbidden(String, &'static str),
    /// The request failed, or the reply is not a JSON document within the size limit.
    #[error("'{0}' cannot be read: {1}")]
    Failed(String, String),
}

/// Fetches documents of issuers.
pub(crate) struct Fetcher {
    client: Client,
    allow_local: bool,
}

/// Chooses the cryptography of TLS for the process; a second call does nothing.
pub fn install_crypto() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

/// TLS of a client that trusts the system's certificates, or those of the file that `SSL_CERT_FILE` names.
pub fn client_tls() -> rustls::ClientConfig {
    install_crypto();
    let mut roots = rustls::RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (_, _) = roots.add_parsable_certificates(found.certs);
    rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

impl Fetcher {
    /// A fetcher that trusts the system's certificates. `allow_local` opens this machine and its private network, and
    /// `http`, for tests and development.
    pub(crate) fn new(allow_local: bool) -> Result<Fetcher, FetchError> {
        let failed = |error: String| FetchError::Failed("TLS".to_owned(), error);
        let client = Client::builder()
            .use_preconfigured_tls(client_tls())
            .no_proxy()
            .redirect(Policy::none())
            .timeout(TIMEOUT)
            .dns_resolver(Arc::new(Resolver { allow_local }))
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(Fetcher {
            client,
            allow_local,
        })
    }

    /// Checks an address without a request.
    pub(crate) fn check(&self, address: &str) -> Result<Url, FetchError> {
        let refuse = |why: &'static str| FetchError::Forbidden(address.to_owned(), why);
        let url = Url::parse(address).map_err(|_| refuse("it is no URL"))?;
        match url.scheme() {
            "https" => {}
            "http" if self.allow_local => {}
            _ => return Err(refuse("only https is allowed")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("it has a user name"));
        }
        let allowed = match url.host() {
            Some(Host::Ipv4(address)) => is_allowed(address.into(), self.allow_local),
            Some(Host::Ipv6(address)) => is_allowed(address.into(), self.allow_local),
            Some(Host::Domain(name)) => self.allow_local || !is_local_name(name),
            None => false,
        };
        if allowed {
            Ok(url)
        } else {
            Err(refuse(
                "it is on this machine or its network (setting `auth.allow_local_issuers`)",
            ))
        }
    }

    /// Fetches a JSON document.
    pub(crate) async fn json(&self, address: &str) -> Result<Value, FetchError> {
        let url = self.check(address)?;
        let failed = |error: String| FetchError::Failed(address.to_owned(), error);
        let request = self.client.get(url).header("accept", "application/json");
        let reply = request
            .send()
            .await
            .map_err(|error| failed(without_address(error)))?;
        if !reply.status().is_success() {
            return Err(failed(format!("it answered {}", reply.status())));
        }
        let mut body = Vec::new();
        let mut chunks = reply.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| failed(without_address(error)))?;
            if body.len() + chunk.len() > LARGEST {
                return Err(failed(format!("it is larger than {LARGEST} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|error| failed(error.to_string()))
    }
}

fn without_address(error: reqwest::Error) -> String {
    let error = error.without_url();
    let source = std::error::Error::source(&error).map(ToString::to_string);
    source.unwrap_or_else(|| error.to_string())
}

/// Names that always mean this machine or its network.
fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let ends = [".localhost", ".local", ".internal"];
    name == "localhost" || ends.iter().any(|end| name.ends_with(end))
}

/// Whether requests to an address are allowed. Link-local addresses, where clouds keep their machines' secrets, never may.
fn is_allowed(address: IpAddr, allow_local: bool) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            let never = v4.is_link_local() || v4.is_multicast() || v4.is_broadcast() || first == 0;
            let shared = first == 100 && (64..128).contains(&second);
            let local = v4.is_loopback() || v4.is_private() || shared || first >= 240;
            !never && (allow_local || !local)
        }
        IpAddr::V6(v6) => {
            if let Some(v4) = v6.to_ipv4_mapped() {
                return is_allowed(v4.into(), allow_local);
            }
            let [first, ..] = v6.segments();
            let never = v6.is_unspecified() || v6.is_multicast() || first & 0xffc0 == 0xfe80;
            // Global addresses are in 2000::/3; of those 2002::/16 and 64:ff9b::/96 can lead back to IPv4.
            let global = first & 0xe000 == 0x2000 && first != 0x2002;
            !never && (allow_local || global)
        }
    }
}

/// A resolver that returns allowed addresses only, so that a name cannot lead into the local network.
struct Resolver {
    allow_local: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_local = self.allow_local;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found
                .filter(|address| is_allowed(address.ip(), allow_local))
                .collect();
            if allowed.is_empty() {
                return Err(format!("{} has no address that may be asked", name.as_str()).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_are_refused() {
        let fetcher = Fetcher::new(false).unwrap();
        for inside in [
            "https://169.254.169.254/latest/meta-data",
            "https://localhost/x",
            "https://LOCALHOST./x",
            "https://sub.localhost/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0/",
            "https://10.0.0.1/",
            "https://192.168.1.1/",
            "https://172.16.0.1/",
            "https://100.64.0.1/",
            "https://[::1]/",
            "https://[::]/",
            "https://[fe80::1]/",
            "https://[fd00::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[2002:7f00:1::]/",
            "https://metadata.google.internal/",
            "http://idp.example/",
            "file:///etc/passwd",
            "gopher://idp.example/",
            "https://u:p@idp.example/",
            "https://u@idp.example/",
            "https://:p@idp.example/",
            "idp.example",
        ] {
            assert!(fetcher.check(inside).is_err(), "{inside}");
        }
        for outside in [
            "https://idp.example/t/",
            "https://8.8.8.8/",
            "https://[2606:4700::1111]/",
        ] {
            assert!(fetcher.check(outside).is_ok(), "{outside}");
        }
    }

    #[test]
    fn addresses_are_allowed_by_their_ranges() {
        let check = |address: &str, allowed: bool, allowed_with_local: bool| {
            let address: IpAddr = address.parse().unwrap();
            let verdict = [is_allowed(address, false), is_allowed(address, true)];
            assert_eq!(verdict, [allowed, allowed_with_local], "{address}");
        };
        let (everywhere, local, never) = ((true, true), (false, true), (false, false));
        for (address, (allowed, allowed_with_local)) in [
            ("8.8.8.8", everywhere),
            ("100.63.255.255", everywhere),
            ("100.128.0.0", everywhere),
            ("99.64.0.1", everywhere),
            ("2606:4700::1111", everywhere),
            ("3fff::1", everywhere),
            ("::ffff:8.8.8.8", everywhere),
            ("127.0.0.1", local),
            ("10.0.0.1", local),
            ("100.64.0.0", local),
            ("100.127.255.255", local),
            ("240.0.0.1", local),
            ("::1", local),
            ("fd00::1", local),
            ("4000::1", local),
            ("2002:7f00:1::", local),
            ("64:ff9b::7f00:1", local),
            ("::ffff:127.0.0.1", local),
            ("0.1.2.3", never),
            ("169.254.169.254", never),
            ("224.0.0.1", never),
            ("255.255.255.255", never),
            ("::", never),
            ("ff02::1", never),
            ("fe80::1", never),
            ("febf::1", never),
            ("::ffff:169.254.169.254", never),
        ] {
            check(address, allowed, allowed_with_local);
        }
    }

    #[test]
    fn names_of_this_network_are_known() {
        for local in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "printer.local",
            "db.internal.",
        ] {
            assert!(is_local_name(local), "{local}");
        }
        for other in ["idp.example", "local", "localhost.example", "notlocalhost"] {
            assert!(!is_local_name(other), "{other}");
        }
    }

    #[test]
    fn the_setting_opens_this_machine_but_never_link_local() {
        let fetcher = Fetcher::new(true).unwrap();
        assert!(fetcher.check("http://127.0.0.1:1/").is_ok());
        assert!(fetcher.check("http://localhost/").is_ok());
        assert!(fetcher.check("http://169.254.169.254/").is_err());
        assert!(fetcher.check("file:///etc/passwd").is_err());
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_refused_when_it_is_looked_up() {
        let resolver = Resolver { allow_local: false };
        let name: Name = "localhost".parse().unwrap();
        assert!(resolver.resolve(name).await.is_err());
    }
}
