//! The connection of a request.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::Extensions;

/// A request's connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Connection {
    /// The address at the other end; `None` for requests within this process.
    pub(crate) peer: Option<SocketAddr>,
    /// The client's address: that of the peer, or what a trusted proxy says.
    pub(crate) client: Option<IpAddr>,
    /// Whether the client speaks TLS: to this server, or to a trusted proxy before it.
    pub(crate) tls: bool,
}

impl Connection {
    /// The connection of a request, as the listener noted it.
    pub(crate) fn of(extensions: &Extensions) -> Connection {
        extensions.get().copied().unwrap_or_default()
    }

    /// The client's IP address.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.client
    }

    /// The address as text; empty within this process.
    pub(crate) fn address_text(&self) -> String {
        self.address()
            .map(|address| address.to_string())
            .unwrap_or_default()
    }
}

/// The address that limits count for: one client has a whole network of 2⁶⁴ addresses of IPv6.
pub(crate) fn counted_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = u128::from(address) >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from(network))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_ipv6_counts_as_its_network() {
        let check = |address: &str, expected: &str| {
            let counted = counted_address(address.parse().unwrap());
            assert_eq!(counted.to_string(), expected);
        };
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
    }
}
