//! The transport over HTTP (<https://modelcontextprotocol.io/specification/2025-11-25/basic/transports>, "Streamable HTTP"): each message is
//! a POST, and each reply is JSON. There are no sessions and no streams, which the protocol leaves to the server.

use std::sync::Arc;

use anyhow::{Context, ensure};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use url::{Host, Url};

use super::answer::{VERSIONS, answered};
use super::rpc::{self, Message, Request};
use super::tools::Tools;
use crate::cli::output;

/// The path of the protocol.
const PATH: &str = "/mcp";
/// Requests that wait for those that run to yield.
const WAITING: usize = 64;

/// A request and where its reply goes.
struct Job {
    request: Request,
    reply: oneshot::Sender<String>,
}

/// What the handler of messages needs.
struct Endpoint {
    jobs: mpsc::Sender<Job>,
    /// The hash of the token: comparing hashes reveals nothing of the token.
    token: [u8; 32],
}

/// Serves messages until Ctrl-C.
///
/// # Errors
/// That the address is not one of this machine alone, or cannot be listened on.
pub(super) async fn serve(tools: &Tools, address: &str, token: &str) -> anyhow::Result<()> {
    let cannot = || format!("cannot listen on {address}");
    let listener = TcpListener::bind(address).await.with_context(cannot)?;
    let bound = listener.local_addr().with_context(cannot)?;
    ensure!(
        bound.ip().is_loopback(),
        "{address} is not an address of this machine alone; a reverse proxy may lead to one that is"
    );
    let (jobs, mut waiting) = mpsc::channel::<Job>(WAITING);
    let endpoint = Arc::new(Endpoint {
        jobs,
        token: hash(token),
    });
    let router = Router::new().route(PATH, post(take)).with_state(endpoint);
    output::print(&format!(
        "\n  MCP          http://{bound}{PATH}\n  header       Authorization: Bearer {token}\n\n"
    ))?;
    let serving = axum::serve(listener, router).into_future();
    let mut serving = std::pin::pin!(serving);
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut running = FuturesUnordered::new();
    loop {
        tokio::select! {
            served = &mut serving => return served.context("the server has ended"),
            interrupted = &mut interrupted => return interrupted.context("cannot wait for Ctrl-C"),
            Some(job) = waiting.recv() => running.push(run(job, tools).boxed_local()),
            Some(()) = running.next() => {}
        }
    }
}

/// Runs a request until its client goes away.
async fn run(job: Job, tools: &Tools) {
    let Job { request, mut reply } = job;
    let text = tokio::select! {
        (_, text) = answered(request, tools) => text,
        () = reply.closed() => return,
    };
    // The client went away at this moment.
    let _ = reply.send(text);
}

/// Takes a message.
async fn take(State(endpoint): State<Arc<Endpoint>>, headers: HeaderMap, body: String) -> Response {
    if let Some(refusal) = refused(&headers, &endpoint.token) {
        return refusal;
    }
    match rpc::read(&body) {
        Message::Bad(reply) => (StatusCode::BAD_REQUEST, JSON, reply).into_response(),
        Message::Empty | Message::Notification(_) => StatusCode::ACCEPTED.into_response(),
        Message::Request(request) => {
            let (reply, replied) = oneshot::channel();
            if endpoint.jobs.send(Job { request, reply }).await.is_err() {
                return StatusCode::SERVICE_UNAVAILABLE.into_response();
            }
            match replied.await {
                Ok(text) => (JSON, text).into_response(),
                Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            }
        }
    }
}

/// The content type of replies.
const JSON: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

/// Why a message is not taken: a page of another origin sent it (DNS rebinding), it lacks the token, or its version of the protocol is not
/// known.
fn refused(headers: &HeaderMap, token: &[u8; 32]) -> Option<Response> {
    let text = |name: &str| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    if text("origin").is_some_and(|origin| !is_local(origin)) {
        return Some(StatusCode::FORBIDDEN.into_response());
    }
    let shown = text("authorization").and_then(|value| value.strip_prefix("Bearer "));
    if shown.is_none_or(|shown| hash(shown) != *token) {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return Some((StatusCode::UNAUTHORIZED, challenge).into_response());
    }
    let known = |version: &str| VERSIONS.contains(&version);
    if text("mcp-protocol-version").is_some_and(|version| !known(version)) {
        let message = format!("the versions of the protocol are {}", VERSIONS.join(", "));
        return Some((StatusCode::BAD_REQUEST, message).into_response());
    }
    None
}

/// Whether an origin is this machine.
fn is_local(origin: &str) -> bool {
    let url = Url::parse(origin).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_need_the_token_and_come_from_this_machine() {
        let status = |pairs: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            refused(&headers, &hash("secret")).map(|refusal| refusal.status().as_u16())
        };
        let token = ("authorization", "Bearer secret");
        assert_eq!(status(&[token]), None);
        assert_eq!(status(&[token, ("origin", "http://localhost:3000")]), None);
        assert_eq!(
            status(&[token, ("mcp-protocol-version", "2025-06-18")]),
            None
        );
        assert_eq!(
            status(&[token, ("origin", "http://evil.example")]),
            Some(403)
        );
        assert_eq!(status(&[token, ("origin", "null")]), Some(403));
        assert_eq!(status(&[]), Some(401));
        assert_eq!(status(&[("authorization", "Bearer wrong")]), Some(401));
        assert_eq!(
            status(&[token, ("mcp-protocol-version", "1999-01-01")]),
            Some(400)
        );
    }
}
