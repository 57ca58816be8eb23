//! The connection of a request.

use std::net::{IpAddr, SocketAddr};

use axum::http::Extensions;

/// A request's connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Connection {
    /// The client's address; `None` for requests within this process.
    pub(crate) peer: Option<SocketAddr>,
    /// Whether it is encrypted.
    pub(crate) tls: bool,
}

impl Connection {
    /// The connection of a request, as the listener noted it.
    pub(crate) fn of(extensions: &Extensions) -> Connection {
        extensions.get().copied().unwrap_or_default()
    }

    /// The client's IP address.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        self.peer.map(|peer| peer.ip())
    }

    /// The address as text; empty within this process.
    pub(crate) fn address_text(&self) -> String {
        self.address()
            .map(|address| address.to_string())
            .unwrap_or_default()
    }
}
