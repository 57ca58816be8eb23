//! Dependencies: spans of the kinds client, producer and internal.
//!
//! The first family of attributes that matches a client span gives its target, data, name and result. A service of Azure and then
//! a model replace the type.

use std::borrow::Cow;

use hindsight_rows::Row;
use hindsight_rows::limits::{self, cut};

use super::column::{named, truth};
use super::message::{Kind, Span, Status};
use crate::attributes::Attributes;
use crate::error::Malformed;
use crate::names::{db, http, messaging, other, peer};
use crate::url;

type Text<'a> = Cow<'a, str>;

/// Fills the columns of a dependency.
pub(super) fn fill<'r>(span: &Span<'r>, row: &mut Row<'r>) -> Result<(), Malformed> {
    row.success = truth(!matches!(span.status, Status::Error(_)));
    row.name = named(Cow::Borrowed(span.name));
    row.result_code = Cow::Borrowed("0");
    match span.kind {
        Kind::Client => client(&span.attributes, row)?,
        Kind::Producer => producer(&span.attributes, row)?,
        Kind::Internal | Kind::Server | Kind::Consumer => internal(&span.attributes, row)?,
    }
    row.kind = named(std::mem::take(&mut row.kind));
    row.target = named(std::mem::take(&mut row.target));
    row.data = cut(std::mem::take(&mut row.data), limits::DATA);
    Ok(())
}

fn client<'r>(attributes: &Attributes<'r>, row: &mut Row<'r>) -> Result<(), Malformed> {
    let azure = attributes.text(other::AZURE)?;
    if let Some(method) = attributes.text(http::METHOD)? {
        http_call(&method, attributes, row)?;
    } else if let Some(system) = attributes.text(db::SYSTEM)? {
        row.target = database_target(&system, attributes)?;
        row.data = attributes.text(db::STATEMENT)?.unwrap_or_default();
        row.kind = if db::SQL.contains(&&*system) {
            Cow::Borrowed("SQL")
        } else {
            system
        };
    } else if attributes.has(messaging::SYSTEM)
        || (azure.is_some() && attributes.has(messaging::DESTINATION))
    {
        row.target = message_target(attributes)?;
        row.kind = attributes.text(messaging::SYSTEM)?.unwrap_or_default();
    } else if let Some(system) = attributes.text(other::RPC_SYSTEM)? {
        let target = peer_target(attributes, true)?;
        row.target = target.unwrap_or_else(|| system.clone());
        row.kind = system;
        if let Some(code) = attributes.text(other::GRPC_STATUS)? {
            row.result_code = named(code);
        }
    } else {
        row.target = peer_target(attributes, true)?.unwrap_or_default();
        row.kind = Cow::Borrowed("N/A");
    }
    if let Some(azure) = azure {
        row.kind = azure;
    }
    if let Some(model) = attributes.text(other::GEN_AI)? {
        row.kind = Cow::Owned(format!("GenAI | {model}"));
        if row.target.is_empty() {
            row.target = model;
        }
    }
    Ok(())
}

fn producer<'r>(attributes: &Attributes<'r>, row: &mut Row<'r>) -> Result<(), Malformed> {
    let azure = attributes.text(other::AZURE)?;
    let system = attributes.text(messaging::SYSTEM)?;
    row.target = if system.is_some() || (azure.is_some() && attributes.has(messaging::DESTINATION))
    {
        message_target(attributes)?
    } else {
        peer_target(attributes, true)?.unwrap_or_default()
    };
    row.kind = match azure.or(system) {
        Some(system) => Cow::Owned(format!("Queue Message | {system}")),
        None => Cow::Borrowed("Queue Message"),
    };
    Ok(())
}

fn internal<'r>(attributes: &Attributes<'r>, row: &mut Row<'r>) -> Result<(), Malformed> {
    row.target = peer_target(attributes, false)?.unwrap_or_default();
    row.kind = if let Some(model) = attributes.text(other::GEN_AI)? {
        Cow::Owned(format!("GenAI | {model}"))
    } else if let Some(azure) = attributes.text(other::AZURE)? {
        Cow::Owned(format!("InProc | {azure}"))
    } else {
        Cow::Borrowed("InProc")
    };
    Ok(())
}

fn http_call<'r>(
    method: &str,
    attributes: &Attributes<'r>,
    row: &mut Row<'r>,
) -> Result<(), Malformed> {
    let address = http_address(attributes)?;
    row.kind = Cow::Borrowed("HTTP");
    row.name = named(Cow::Owned(format!("{method} {}", url::path(&address))));
    row.target = http_target(&address, attributes)?;
    if let Some(code) = attributes.text(http::STATUS)? {
        row.result_code = named(code);
    }
    row.data = address;
    Ok(())
}

/// The URL: whole, or of its scheme, host and target.
fn http_address<'a>(attributes: &Attributes<'a>) -> Result<Text<'a>, Malformed> {
    if let Some(url) = attributes.text(http::URL)? {
        return Ok(url);
    }
    let (scheme, target) = (
        attributes.text(http::SCHEME)?,
        attributes.text(http::TARGET)?,
    );
    let host = match attributes.text(http::HOST)? {
        Some(host) => Some(host),
        None => old_peer(attributes)?,
    };
    let (Some(scheme), Some(host), Some(target)) = (scheme, host, target) else {
        return Ok(Cow::Borrowed(""));
    };
    Ok(Cow::Owned(format!("{scheme}://{host}{target}")))
}

/// The host that is called, without the default port of the scheme.
fn http_target<'a>(address: &str, attributes: &Attributes<'a>) -> Result<Text<'a>, Malformed> {
    if let Some(service) = attributes.text(peer::SERVICE)? {
        return Ok(service);
    }
    let scheme = match attributes.text(http::SCHEME)? {
        Some(scheme) => scheme,
        None => Cow::Owned(url::scheme(address).to_owned()),
    };
    let host = match server(attributes)? {
        Some(host) => host,
        None => match attributes.text(http::HOST)? {
            Some(host) => host,
            None => match url::host(address) {
                "" => old_peer(attributes)?.unwrap_or_default(),
                host => Cow::Owned(host.to_owned()),
            },
        },
    };
    Ok(match url::without_default_port(&host, &scheme) {
        shorter if shorter.len() < host.len() => Cow::Owned(shorter.to_owned()),
        _ => host,
    })
}

/// The host of a database, without the default port of its system, and the database's name; the system if neither is given.
fn database_target<'a>(
    system: &Text<'a>,
    attributes: &Attributes<'a>,
) -> Result<Text<'a>, Malformed> {
    let host = match peer_target(attributes, true)? {
        Some(host) => {
            let default = db::PORTS.iter().find(|(known, _)| known == system);
            let shorter = default.and_then(|(_, port)| {
                let host = host.strip_suffix(port)?;
                host.strip_suffix(':').map(str::to_owned)
            });
            Some(shorter.map_or(host, Cow::Owned))
        }
        None => None,
    };
    Ok(match (host, attributes.text(db::NAME)?) {
        (Some(host), Some(name)) => Cow::Owned(format!("{host}|{name}")),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => system.clone(),
    })
}

/// Where a message goes: host and destination, or the destination alone, or the system.
fn message_target<'a>(attributes: &Attributes<'a>) -> Result<Text<'a>, Malformed> {
    let system = || attributes.text(messaging::SYSTEM);
    Ok(
        match (
            attributes.text(messaging::HOST)?,
            attributes.text(messaging::DESTINATION)?,
        ) {
            (Some(host), Some(destination)) => Cow::Owned(format!("{host}/{destination}")),
            (None, Some(destination)) => destination,
            (_, None) => system()?.unwrap_or_default(),
        },
    )
}

/// The other end as it is given, with its port. Within the application `server.address` is not the other end.
fn peer_target<'a>(
    attributes: &Attributes<'a>,
    with_server: bool,
) -> Result<Option<Text<'a>>, Malformed> {
    if let Some(service) = attributes.text(peer::SERVICE)? {
        return Ok(Some(service));
    }
    if with_server && let Some(server) = server(attributes)? {
        return Ok(Some(server));
    }
    old_peer(attributes)
}

fn server<'a>(attributes: &Attributes<'a>) -> Result<Option<Text<'a>>, Malformed> {
    with_port(attributes, peer::SERVER, peer::SERVER_PORT)
}

fn old_peer<'a>(attributes: &Attributes<'a>) -> Result<Option<Text<'a>>, Malformed> {
    with_port(attributes, peer::OLD, peer::OLD_PORT)
}

fn with_port<'a>(
    attributes: &Attributes<'a>,
    host: &[&str],
    port: &[&str],
) -> Result<Option<Text<'a>>, Malformed> {
    let Some(host) = attributes.text(host)? else {
        return Ok(None);
    };
    Ok(Some(match attributes.text(port)? {
        Some(port) => Cow::Owned(format!("{host}:{port}")),
        None => host,
    }))
}
