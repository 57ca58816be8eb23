//! The origin by which a client reaches this server: the scheme, host and port of the addresses in replies.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};

use crate::config::Settings;
use crate::connection::Connection;
use crate::proxies::host_and_port;

/// The head of a request, with the connection that it came by.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// The request's target, whose authority HTTP/2 sends as `:authority`.
    pub(crate) uri: Uri,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The connection.
    pub(crate) connection: Connection,
}

impl<S: Sync> FromRequestParts<S> for Head {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Head, Infallible> {
        Ok(Head::of(parts))
    }
}

impl Head {
    /// The head of a request.
    pub(crate) fn of(parts: &Parts) -> Head {
        Head {
            uri: parts.uri.clone(),
            headers: parts.headers.clone(),
            connection: Connection::of(&parts.extensions),
        }
    }

    /// Scheme, host and port, such as `https://telemetry.example`: as a trusted proxy says, or as the request names them.
    /// The target's authority precedes `Host` (RFC 9112 §3.2.2, RFC 9113 §8.3.1).
    pub(crate) fn origin(&self, settings: &Settings) -> String {
        let scheme = if self.connection.tls { "https" } else { "http" };
        let peer = self.connection.peer.map(|peer| peer.ip());
        let forwarded = peer.and_then(|peer| settings.trusted_proxies.host(peer, &self.headers));
        let named = || {
            let in_target = self.uri.authority().map(|authority| authority.as_str());
            let in_header = || self.headers.get(header::HOST)?.to_str().ok();
            host_and_port(in_target.or_else(in_header)?)
        };
        match forwarded.or_else(named) {
            Some(host) => format!("{scheme}://{host}"),
            None => format!("{scheme}://{}", settings.listen),
        }
    }

    /// The base address of links in replies: the one that is set, or the request's origin.
    pub(crate) fn base(&self, settings: &Settings) -> String {
        if settings.public_url.is_empty() {
            self.origin(settings)
        } else {
            settings.public_url.clone()
        }
    }

    /// The base address of the issuer: the one that is set, or the request's origin. A request without TLS is sent to
    /// `located`, where the issuer has TLS, because clients send secrets there.
    pub(crate) fn issuer_base(&self, settings: &Settings, located: &str) -> String {
        let is_set = !settings.auth_url.is_empty() || !settings.public_url.is_empty();
        if is_set || (located.starts_with("https://") && !self.connection.tls) {
            return located.to_owned();
        }
        self.origin(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderName;

    fn origin(tls: bool, uri: &str, headers: &[(&str, &str)]) -> String {
        let mut settings = Settings::defaults().unwrap();
        settings.set("http.trusted_proxies", "10.0.0.0/8").unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.append(name, value.parse().unwrap());
        }
        let connection = Connection {
            peer: Some("10.0.0.1:5".parse().unwrap()),
            client: None,
            tls,
        };
        let head = Head {
            uri: uri.parse().unwrap(),
            headers: map,
            connection,
        };
        head.origin(&settings)
    }

    #[test]
    fn the_request_names_its_origin() {
        assert_eq!(origin(false, "/x", &[("host", "a:1")]), "http://a:1");
        assert_eq!(origin(true, "/x", &[("host", "a")]), "https://a");
        let both = origin(true, "https://b:2/x", &[("host", "a")]);
        assert_eq!(both, "https://b:2");
        assert_eq!(origin(false, "/x", &[]), "http://127.0.0.1:2020");
        let proxied = [("host", "inner"), ("x-forwarded-host", "t.example")];
        assert_eq!(origin(true, "/x", &proxied), "https://t.example");
        let broken = [("host", "a/b@c")];
        assert_eq!(origin(false, "/x", &broken), "http://127.0.0.1:2020");
    }

    #[test]
    fn settings_precede_the_request_for_the_issuer() {
        let mut settings = Settings::defaults().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "a:1".parse().unwrap());
        let asked = |tls| Head {
            uri: Uri::from_static("/"),
            headers: headers.clone(),
            connection: Connection {
                tls,
                ..Connection::default()
            },
        };
        let (plain, tls) = ("http://127.0.0.1:2020", "https://localhost:2020");
        assert_eq!(asked(false).issuer_base(&settings, plain), "http://a:1");
        assert_eq!(asked(true).issuer_base(&settings, tls), "https://a:1");
        assert_eq!(asked(false).issuer_base(&settings, tls), tls);
        settings.set("auth.url", "https://login.example").unwrap();
        let located = "https://login.example";
        assert_eq!(asked(true).issuer_base(&settings, located), located);
    }
}
