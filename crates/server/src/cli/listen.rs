//! Connections: their limits and their graceful end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;

use super::connection_limit::{ConnectionLimit, ConnectionSlot};
use super::slow_client::SlowClientGuard;
use crate::config::Settings;
use crate::connection::{Connection, counted_address};
use crate::middleware::outer::overloaded;
use crate::proxies::TrustedProxies;
use crate::routes::health;
use crate::service::Service;

/// How long a client may take to agree on encryption.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's line and headers.
const HEADER_BYTES: usize = 64 << 10;
/// Streams of an HTTP/2 connection.
const MAX_STREAMS: u32 = 128;
/// Resets of streams that were not yet accepted (rapid reset).
const MAX_PENDING_RESETS: usize = 32;

/// Bytes of a stream and of a connection of HTTP/2 that a client may send before they are read.
const STREAM_WINDOW: u32 = 128 << 10;
const CONNECTION_WINDOW: u32 = 512 << 10;
/// Bytes of a stream's reply that wait for the client.
const SEND_BUFFER: usize = 128 << 10;

/// The first byte of a TLS record that begins a handshake (RFC 8446 §5.1); no method of HTTP begins with it.
const TLS_HANDSHAKE: u8 = 0x16;
/// How often the log says that clients speak TLS where there is no certificate.
const WARNED_EVERY: Duration = Duration::from_secs(60);

/// What the connections of a listener speak.
#[derive(Clone)]
pub(crate) enum Encryption {
    /// Plain HTTP.
    None,
    /// Plain HTTP or TLS: the first byte of a connection tells which.
    Accepted(TlsAcceptor),
    /// TLS alone.
    Required(TlsAcceptor),
}

/// How connections are served.
#[derive(Clone)]
struct Http {
    encryption: Encryption,
    /// When the log last said that a client speaks TLS where there is no certificate.
    warned: Arc<Mutex<Option<Instant>>>,
    builder: Builder<TokioExecutor>,
    service: Service,
    proxies: TrustedProxies,
    header_timeout: Duration,
    write_timeout: Duration,
}

/// Accepts connections until `stop` becomes true, then waits for open requests as long as is set.
pub(crate) async fn run(
    listener: TcpListener,
    encryption: Encryption,
    service: Service,
    mut stop: watch::Receiver<bool>,
    settings: &Settings,
) {
    let http = Http {
        encryption,
        warned: Arc::default(),
        builder: builder(settings.header_timeout),
        service,
        proxies: settings.trusted_proxies.clone(),
        header_timeout: settings.header_timeout,
        write_timeout: settings.write_timeout,
    };
    let connections = TaskTracker::new();
    let most = settings.max_connections.min(most_connections());
    let limit = ConnectionLimit::new(most, settings.max_connections_per_address.min(most));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut stop) => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let address = peer.ip().to_canonical();
                let counted = (!http.proxies.trusts(address)).then(|| counted_address(address));
                let slot = Arc::new(limit.open(counted));
                let opened = open(
                    http.clone(),
                    stream,
                    Client {
                        peer,
                        slot: slot.clone(),
                    },
                    stop.clone(),
                );
                connections.spawn(async move {
                    tokio::select! {
                        () = opened => {}
                        () = slot.closed() => tracing::debug!(%peer, "waiting connection closed: the connection limit is reached"),
                    }
                });
            }
            Err(error) => {
                // Too many open files, for example: close a waiting connection, and pause instead of spinning.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(limit.close_longest_waiting()).await;
            }
        }
    }
    drop(listener);
    connections.close();
    if tokio::time::timeout(settings.shutdown_timeout, connections.wait())
        .await
        .is_err()
    {
        tracing::warn!(open = connections.len(), "stopping with open connections");
    }
}

/// How many connections a listener can have: with a second one for TLS half of the files that this process may open. The store
/// needs the others. What may be opened is raised as far as the system lets it.
fn most_connections() -> usize {
    // Where the system does not tell, the setting alone counts.
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(u64::MAX);
    usize::try_from(files / 4).unwrap_or(usize::MAX).max(1)
}

/// Completes when `stop` becomes true, or when nobody is left to say so.
pub(super) async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn builder(header_timeout: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(HEADER_BYTES)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .max_header_list_size(u32::try_from(HEADER_BYTES).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    builder
}

/// Who is at the other end of a connection.
struct Client {
    peer: SocketAddr,
    slot: Arc<ConnectionSlot>,
}

/// Finds out what the client speaks, agrees on encryption, and serves.
async fn open(http: Http, stream: TcpStream, client: Client, stop: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let peer = client.peer;
    // The time until the first byte counts as part of the time for the first request.
    let deadline = Instant::now() + http.header_timeout;
    let acceptor = match &http.encryption {
        Encryption::Required(acceptor) => Some(acceptor.clone()),
        Encryption::None | Encryption::Accepted(_) => {
            let Ok(Ok(begins)) = tokio::time::timeout_at(deadline, begins_with_tls(&stream)).await
            else {
                return tracing::debug!(%peer, "the client sent nothing");
            };
            match &http.encryption {
                Encryption::Accepted(acceptor) if begins => Some(acceptor.clone()),
                Encryption::None if begins => return warn_of_tls(&http, peer),
                _ => None,
            }
        }
    };
    let Some(acceptor) = acceptor else {
        return serve(http, stream, client, false, deadline, stop).await;
    };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => {
            let deadline = Instant::now() + http.header_timeout;
            serve(http, stream, client, true, deadline, stop).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no encryption was agreed on"),
        Err(_) => tracing::debug!(%peer, "the client took too long to agree on encryption"),
    }
}

/// Waits for the first byte of a connection, which stays to be read; says whether it begins a handshake of TLS.
async fn begins_with_tls(stream: &TcpStream) -> std::io::Result<bool> {
    let mut first = [0];
    let count = stream.peek(&mut first).await?;
    Ok(count == 1 && first == [TLS_HANDSHAKE])
}

/// Tells the log, but not for every connection: some clients speak TLS to an `http://` address and report no failure.
fn warn_of_tls(http: &Http, peer: SocketAddr) {
    let mut warned = http.warned.lock();
    if warned.is_none_or(|last| last.elapsed() >= WARNED_EVERY) {
        *warned = Some(Instant::now());
        tracing::warn!(%peer, "a client speaks TLS, and the server has no certificate: start it with --dev-tls, or set `tls.certificate` and `tls.key`");
    }
}

async fn serve(
    http: Http,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    tls: bool,
    deadline: Instant,
    mut stop: watch::Receiver<bool>,
) {
    let Client { peer, slot } = client;
    let first_bytes = deadline.saturating_duration_since(Instant::now());
    let stream = SlowClientGuard::new(stream, slot.clone(), first_bytes, http.write_timeout);
    let (service, proxies, requests) = (http.service, http.proxies, slot.clone());
    let answer = service_fn(move |mut request: Request<Incoming>| {
        let connection = Connection {
            peer: Some(peer),
            client: Some(proxies.client(peer.ip(), request.headers())),
            tls: proxies
                .is_https(peer.ip(), request.headers())
                .unwrap_or(tls),
        };
        request.extensions_mut().insert(connection);
        answer(service.clone(), requests.clone(), request)
    });
    let connection = http.builder.serve_connection(TokioIo::new(stream), answer);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = held_up(&slot, http.write_timeout) => {
            tracing::debug!(%peer, "connection closed: the client reads nothing of a reply");
            return;
        }
        () = stopped(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "connection ended");
    }
}

/// Answers a request. One beyond the connection limit waits for a slot, unless it asks for the server's health.
async fn answer(
    service: Service,
    slot: Arc<ConnectionSlot>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let path = request.uri().path();
    if !health::PATHS.contains(&path) && !slot.has_slot().await {
        return Ok(no_slot());
    }
    let active = slot.begin_request();
    let request = request.map(|body| Body::new(active.receive(body)));
    let reply = service.answer(request).await;
    Ok(reply.map(|body| active.until_end_of(body)))
}

/// The reply to a request for which no connection made room.
fn no_slot() -> Response<Body> {
    let mut response = overloaded("All connections are in use (`http.max_connections`)");
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

/// Completes when a part of a reply has been waiting to be sent for longer than `limit`.
async fn held_up(slot: &ConnectionSlot, limit: Duration) {
    let every = (limit / 4).max(Duration::from_millis(10));
    loop {
        tokio::time::sleep(every).await;
        if slot.is_held_up(limit) {
            return;
        }
    }
}
