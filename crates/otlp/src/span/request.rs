//! Requests: spans of the kinds server and consumer.

use std::borrow::Cow;

use hindsight_rows::Row;
use hindsight_rows::limits::{self, cut};

use super::column::{named, truth};
use super::link;
use super::message::{Span, Status};
use crate::attributes::Attributes;
use crate::error::Malformed;
use crate::names::{http, messaging, other, peer};
use crate::url;

/// Fills the columns of a request; returns the mean time of its messages in their queue, if it has one.
pub(super) fn fill<'r>(span: &Span<'r>, row: &mut Row<'r>) -> Result<Option<f64>, Malformed> {
    let attributes = &span.attributes;
    let is_http = attributes.has(http::METHOD);
    row.name = name(span)?;
    let status = attributes.text(http::STATUS)?;
    row.success = truth(match span.status {
        Status::Error(_) => false,
        Status::Ok(_) => true,
        Status::Unset(_) => {
            let code = status
                .as_deref()
                .and_then(|code| code.trim().parse::<i64>().ok());
            code.is_none_or(|code| code < 400)
        }
    });
    let grpc = || attributes.text(other::GRPC_STATUS);
    let code = match status {
        Some(code) => Some(code),
        None => grpc()?,
    };
    row.result_code = named(code.unwrap_or(Cow::Borrowed("0")));
    if is_http {
        row.url = cut(address(attributes)?, limits::URL);
    }
    let is_azure = attributes.has(other::AZURE);
    if is_azure || !is_http {
        row.source = named(source(attributes)?);
    }
    if is_azure {
        return link::mean_time_in_queue(&span.links, span.start);
    }
    Ok(None)
}

/// The method with the route or the path, or the name of the span.
pub(super) fn name<'a>(span: &Span<'a>) -> Result<Cow<'a, str>, Malformed> {
    let attributes = &span.attributes;
    let method = attributes.text(http::METHOD)?;
    let is_azure = attributes.has(other::AZURE);
    let Some(method) = method.filter(|_| !is_azure) else {
        return Ok(named(Cow::Borrowed(span.name)));
    };
    let text = match attributes.text(http::ROUTE)? {
        Some(route) => format!("{method} {route}"),
        None => format!("{method} {}", url::path(&address(attributes)?)),
    };
    Ok(named(Cow::Owned(text)))
}

/// The URL: whole, or of its scheme, host and target; empty where one of them is not given.
fn address<'a>(attributes: &Attributes<'a>) -> Result<Cow<'a, str>, Malformed> {
    if let Some(url) = attributes.text(http::URL)? {
        return Ok(url);
    }
    let scheme = attributes.text(http::SCHEME)?;
    let (Some(scheme), Some(host), Some(target)) = (scheme, host(attributes)?, target(attributes)?)
    else {
        return Ok(Cow::Borrowed(""));
    };
    Ok(Cow::Owned(format!("{scheme}://{host}{target}")))
}

fn target<'a>(attributes: &Attributes<'a>) -> Result<Option<Cow<'a, str>>, Malformed> {
    let Some(path) = attributes.text(http::PATH)? else {
        return attributes.text(http::TARGET);
    };
    Ok(Some(match attributes.text(http::QUERY)? {
        // Some SDKs send the question mark with the query.
        Some(query) if query.starts_with('?') => Cow::Owned(format!("{path}{query}")),
        Some(query) => Cow::Owned(format!("{path}?{query}")),
        None => path,
    }))
}

/// The host with its port, which stays even if it is the default of the scheme.
fn host<'a>(attributes: &Attributes<'a>) -> Result<Option<Cow<'a, str>>, Malformed> {
    let with = |host: Cow<'a, str>, port: &[&str]| -> Result<_, Malformed> {
        Ok(Some(match attributes.text(port)? {
            Some(port) => Cow::Owned(format!("{host}:{port}")),
            None => host,
        }))
    };
    if let Some(host) = attributes.text(peer::SERVER)? {
        return with(host, peer::SERVER_PORT);
    }
    if let Some(host) = attributes.text(http::HOST)? {
        return Ok(Some(host));
    }
    if let Some(host) = attributes.text(http::SERVER_NAME)? {
        return with(host, peer::OWN_PORT);
    }
    match attributes.text(peer::OWN)? {
        Some(host) => with(host, peer::OWN_PORT),
        None => Ok(None),
    }
}

/// Where a message came from: host and destination, or the destination alone.
fn source<'a>(attributes: &Attributes<'a>) -> Result<Cow<'a, str>, Malformed> {
    let is_message = attributes.has(messaging::SYSTEM) || attributes.has(other::AZURE);
    let destination = attributes.text(messaging::DESTINATION)?;
    let Some(destination) = destination.filter(|_| is_message) else {
        return Ok(Cow::Borrowed(""));
    };
    Ok(match attributes.text(messaging::HOST)? {
        Some(host) => Cow::Owned(format!("{host}/{destination}")),
        None => destination,
    })
}
