//! Trusted proxies: from which peers `Forwarded` (RFC 7239) and the headers `X-Forwarded-…` are believed.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, ensure};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, header};

/// `X-Forwarded-For`
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// `X-Forwarded-Proto`
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
/// `X-Forwarded-Host`
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
/// Addresses of a chain that are looked at.
const LONGEST_CHAIN: usize = 32;

/// The networks of the proxies before this server (setting `http.trusted_proxies`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrustedProxies(Arc<[Network]>);

/// Addresses with a common beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    prefix: u8,
}

impl TrustedProxies {
    /// Reads `10.0.0.0/8, ::1`.
    ///
    /// # Errors
    /// For what is neither an address nor a network.
    pub(crate) fn parse(text: &str) -> anyhow::Result<TrustedProxies> {
        let parts = text.split(',').map(str::trim);
        let networks = parts.filter(|part| !part.is_empty()).map(Network::parse);
        Ok(TrustedProxies(networks.collect::<anyhow::Result<_>>()?))
    }

    /// Whether a peer is one of the proxies.
    pub(crate) fn trusts(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        self.0.iter().any(|network| network.contains(peer))
    }

    /// The address of the client behind `peer`: the last one of the chain that is no proxy. A peer that is no proxy is the
    /// client, whatever it says.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.trusts(peer) {
            return peer;
        }
        let named = [
            chain(headers, &header::FORWARDED, |element| {
                parameter(element, "for")
            }),
            chain(headers, &X_FORWARDED_FOR, whole),
        ];
        match named.map(|chain| chain.map(|chain| self.first_untrusted(peer, &chain))) {
            // A proxy that writes one of the headers may pass on the other as the client sent it.
            [Some(one), Some(other)] if one != other => peer,
            [Some(client), _] | [None, Some(client)] => client,
            [None, None] => peer,
        }
    }

    /// Whether the client speaks TLS to the first proxy that it reaches; `None` if no trusted proxy says so.
    pub(crate) fn is_https(&self, peer: IpAddr, headers: &HeaderMap) -> Option<bool> {
        let scheme = self.forwarded(peer, headers, "proto", &X_FORWARDED_PROTO)?;
        match scheme.to_ascii_lowercase().as_str() {
            "https" => Some(true),
            "http" => Some(false),
            _ => None,
        }
    }

    /// The host, with its port, that the client named to the first proxy that it reaches; `None` if no trusted proxy says so.
    pub(crate) fn host(&self, peer: IpAddr, headers: &HeaderMap) -> Option<Authority> {
        let host = self.forwarded(peer, headers, "host", &X_FORWARDED_HOST)?;
        host_and_port(&host)
    }

    /// What the proxy that the client reaches says in a parameter of `Forwarded` or in the corresponding header.
    fn forwarded(
        &self,
        peer: IpAddr,
        headers: &HeaderMap,
        name: &str,
        corresponding: &HeaderName,
    ) -> Option<String> {
        if !self.trusts(peer) {
            return None;
        }
        let elements = chain(headers, &header::FORWARDED, whole);
        let forwarded = elements.and_then(|elements| {
            let nodes = elements
                .iter()
                .map(|element| parameter(element, "for").unwrap_or_default());
            let at = self.client_at(&nodes.collect::<Vec<_>>());
            parameter(elements.get(at)?, name)
        });
        let values = chain(headers, corresponding, whole);
        let single = values.and_then(|values| {
            let nodes = chain(headers, &X_FORWARDED_FOR, whole).unwrap_or_default();
            match values.as_slice() {
                [only] => Some(only.clone()),
                // Each proxy has added its own.
                several if several.len() == nodes.len() => {
                    several.get(self.client_at(&nodes)).cloned()
                }
                _ => None,
            }
        });
        match (forwarded, single) {
            // A proxy that writes one of the headers may pass on the other as the client sent it.
            (Some(one), Some(other)) if !one.eq_ignore_ascii_case(&other) => None,
            (value, None) | (_, value) => value,
        }
    }

    /// The index of the node that is the client: the last one that is no proxy.
    fn client_at(&self, chain: &[String]) -> usize {
        let looked_at = chain.iter().enumerate().rev().take(LONGEST_CHAIN);
        let is_proxy = |node: &String| node_address(node).is_some_and(|node| self.trusts(node));
        let mut at = 0;
        for (index, node) in looked_at {
            at = index;
            if !is_proxy(node) {
                break;
            }
        }
        at
    }

    /// Goes back along the chain from `peer` as far as each address is that of a proxy.
    fn first_untrusted(&self, peer: IpAddr, chain: &[String]) -> IpAddr {
        let mut client = peer;
        for node in chain.iter().rev().take(LONGEST_CHAIN) {
            // `unknown` and hidden names (RFC 7239 §6): the node that reported it is the last that is known.
            let Some(address) = node_address(node) else {
                return client;
            };
            client = address;
            if !self.trusts(client) {
                return client;
            }
        }
        client
    }
}

impl Network {
    fn parse(text: &str) -> anyhow::Result<Network> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let wrong = || format!("`{text}` is neither an address nor a network such as 10.0.0.0/8");
        let address: IpAddr = address.trim().parse().ok().with_context(wrong)?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(prefix) => prefix.trim().parse().ok().with_context(wrong)?,
            None => longest,
        };
        ensure!(prefix <= longest, wrong());
        Ok(Network { address, prefix })
    }

    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let bits = u32::from(network) ^ u32::from(address);
                bits.leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let bits = u128::from(network) ^ u128::from(address);
                bits.leading_zeros() >= u32::from(self.prefix)
            }
            _ => false,
        }
    }
}

/// The nodes that all headers of a name list, the nearest to this server last; `None` where there is no such header.
fn chain(
    headers: &HeaderMap,
    name: &HeaderName,
    node: impl Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let mut values = headers.get_all(name).iter().peekable();
    values.peek()?;
    let texts = values.map(|value| value.to_str().unwrap_or("unknown"));
    let elements = texts.flat_map(|text| text.split(','));
    Some(
        elements
            .map(|element| node(element.trim()).unwrap_or_else(|| "unknown".to_owned()))
            .collect(),
    )
}

/// An element as it is.
fn whole(element: &str) -> Option<String> {
    Some(element.to_owned())
}

/// A parameter of an element of `Forwarded`, without its quotes.
fn parameter(element: &str, name: &str) -> Option<String> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut named = pairs.filter(|(given, _)| given.trim().eq_ignore_ascii_case(name));
    let (_, value) = named.next()?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// `host` or `host:port`; `None` for everything else, such as a host with a user name.
pub(crate) fn host_and_port(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    let is_plain = !authority.host().is_empty() && !text.contains('@');
    is_plain.then_some(authority)
}

/// `1.2.3.4`, `1.2.3.4:5`, `::1`, `[::1]` or `[::1]:5`.
fn node_address(node: &str) -> Option<IpAddr> {
    let bare = node
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address = bare.unwrap_or(node).parse::<IpAddr>();
    let address = address.or_else(|_| node.parse::<SocketAddr>().map(|place| place.ip()));
    address.ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(trusted: &str, peer: &str, headers: &[(&str, &str)]) -> String {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.append(name, value.parse().unwrap());
        }
        let proxies = TrustedProxies::parse(trusted).unwrap();
        proxies.client(peer.parse().unwrap(), &map).to_string()
    }

    #[test]
    fn only_proxies_are_believed_and_only_as_far_as_they_know() {
        let check = |trusted: &str, peer: &str, headers: &[(&str, &str)], expected: &str| {
            assert_eq!(client(trusted, peer, headers), expected, "{headers:?}");
        };
        let said = [("x-forwarded-for", "203.0.113.9")];
        check("", "10.0.0.1", &said, "10.0.0.1");
        check("10.0.0.0/8", "192.0.2.1", &said, "192.0.2.1");
        check("10.0.0.0/8", "10.0.0.1", &said, "203.0.113.9");
        check("10.0.0.0/8", "::ffff:10.0.0.1", &said, "203.0.113.9");
        check("10.0.0.0/8", "10.0.0.1", &[], "10.0.0.1");
        // What the client wrote itself stands before what the proxy added.
        let forged = [("x-forwarded-for", "127.0.0.1, 203.0.113.9, 10.0.0.2")];
        check("10.0.0.0/8", "10.0.0.1", &forged, "203.0.113.9");
        let lines = [
            ("x-forwarded-for", "127.0.0.1"),
            ("x-forwarded-for", "203.0.113.9:80"),
        ];
        check("10.0.0.1", "10.0.0.1", &lines, "203.0.113.9");
        let forwarded = [(
            "forwarded",
            "for=198.51.100.1, For=\"[2001:db8::7]:4711\";proto=https",
        )];
        check("10.0.0.1", "10.0.0.1", &forwarded, "2001:db8::7");
        check(
            "10.0.0.1",
            "10.0.0.1",
            &[("forwarded", "for=_hidden")],
            "10.0.0.1",
        );
        check(
            "10.0.0.1",
            "10.0.0.1",
            &[("forwarded", "for=unknown, by=x")],
            "10.0.0.1",
        );
        let both = [
            ("forwarded", "for=127.0.0.1"),
            ("x-forwarded-for", "203.0.113.9"),
        ];
        check("10.0.0.1", "10.0.0.1", &both, "10.0.0.1");
        let agree = [
            ("forwarded", "for=203.0.113.9"),
            ("x-forwarded-for", "203.0.113.9"),
        ];
        check("10.0.0.1", "10.0.0.1", &agree, "203.0.113.9");
        check("fd00::/8", "fd12::1", &said, "203.0.113.9");
    }

    #[test]
    fn scheme_and_host_are_those_of_the_proxy_that_the_client_reaches() {
        let check = |peer: &str, headers: &[(&str, &str)], scheme: Option<bool>, host: &str| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
                map.append(name, value.parse().unwrap());
            }
            let proxies = TrustedProxies::parse("10.0.0.0/8").unwrap();
            let peer = peer.parse().unwrap();
            assert_eq!(proxies.is_https(peer, &map), scheme, "{headers:?}");
            let found = proxies.host(peer, &map);
            let found = found.as_ref().map_or("", |host| host.as_str());
            assert_eq!(found, host, "{headers:?}");
        };
        let simple = [
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "t.example"),
        ];
        check("10.0.0.1", &simple, Some(true), "t.example");
        check("192.0.2.1", &simple, None, "");
        check("10.0.0.1", &[], None, "");
        let one = [(
            "forwarded",
            "for=203.0.113.9;proto=https;host=\"t.example:8443\"",
        )];
        check("10.0.0.1", &one, Some(true), "t.example:8443");
        // What the client wrote itself stands first; the inner proxy is reached over plain HTTP.
        let chain = [(
            "forwarded",
            "for=1.1.1.1;proto=http;host=evil, for=203.0.113.9;proto=https;host=t.example, for=10.0.0.2;proto=http;host=inner",
        )];
        check("10.0.0.1", &chain, Some(true), "t.example");
        let lists = [
            ("x-forwarded-for", "1.1.1.1, 203.0.113.9, 10.0.0.2"),
            ("x-forwarded-proto", "http, https, http"),
            ("x-forwarded-host", "evil, t.example, inner"),
        ];
        check("10.0.0.1", &lists, Some(true), "t.example");
        let unclear = [
            ("x-forwarded-for", "203.0.113.9"),
            ("x-forwarded-proto", "http, https"),
        ];
        check("10.0.0.1", &unclear, None, "");
        let differ = [
            ("forwarded", "for=203.0.113.9;proto=http"),
            ("x-forwarded-proto", "https"),
        ];
        check("10.0.0.1", &differ, None, "");
        for wrong in ["user@t.example", "t.example/x", "", "a b"] {
            check("10.0.0.1", &[("x-forwarded-host", wrong)], None, "");
        }
    }

    #[test]
    fn networks_are_checked_when_they_are_set() {
        for wrong in ["proxy.example", "10.0.0.0/33", "10.0.0.0/x", "::/129"] {
            assert!(TrustedProxies::parse(wrong).is_err(), "{wrong}");
        }
        assert!(
            TrustedProxies::parse(" 10.0.0.0/0 , ::1 ")
                .unwrap()
                .trusts("9.9.9.9".parse().unwrap())
        );
    }
}
