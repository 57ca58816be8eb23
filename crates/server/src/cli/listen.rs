//! Connections: their limits and their graceful end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::connection_limit::{ConnectionLimit, ConnectionSlot};
use super::slow_client::SlowClientGuard;
use crate::config::Settings;
use crate::connection::Connection;

/// How long a client may take to agree on encryption.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's line and headers.
const HEADER_BYTES: usize = 64 << 10;
/// Streams of an HTTP/2 connection.
const MAX_STREAMS: u32 = 128;
/// Resets of streams that were not yet accepted (rapid reset).
const MAX_PENDING_RESETS: usize = 32;

/// How connections are served.
#[derive(Clone)]
struct Http {
    builder: Builder<TokioExecutor>,
    header_timeout: Duration,
    write_timeout: Duration,
}

/// Accepts connections until `stop` becomes true, then waits for open requests as long as is set.
pub(crate) async fn run(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut stop: watch::Receiver<bool>,
    settings: &Settings,
) {
    let http = Http {
        builder: builder(settings.header_timeout),
        header_timeout: settings.header_timeout,
        write_timeout: settings.write_timeout,
    };
    let connections = TaskTracker::new();
    let limit = ConnectionLimit::new(settings.max_connections.min(most_connections()));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut stop) => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let slot = tokio::select! {
                    slot = limit.acquire() => Arc::new(slot),
                    () = stopped(&mut stop) => break,
                };
                let opened = open(
                    http.clone(),
                    stream,
                    tls.clone(),
                    Client {
                        peer,
                        router: router.clone(),
                        slot: slot.clone(),
                    },
                    stop.clone(),
                );
                connections.spawn(async move {
                    tokio::select! {
                        () = opened => {}
                        () = slot.closed() => tracing::debug!(%peer, "idle connection closed: the connection limit is reached"),
                    }
                });
            }
            Err(error) => {
                // Too many open files, for example: close an idle connection, and pause instead of spinning.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(limit.close_idle()).await;
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

/// How many connections a listener can have: with its twin for TLS half of the files that this process may open. The store
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
        .keep_alive_interval(Some(Duration::from_secs(30)));
    builder
}

/// Who is at the other end of a connection, and what they may ask.
struct Client {
    peer: SocketAddr,
    router: Router,
    slot: Arc<ConnectionSlot>,
}

/// Agrees on encryption where the listener has it, then serves.
async fn open(
    http: Http,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    client: Client,
    stop: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let peer = client.peer;
    let Some(tls) = tls else {
        return serve(http, stream, client, false, stop).await;
    };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
        Ok(Ok(stream)) => serve(http, stream, client, true, stop).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no encryption was agreed on"),
        Err(_) => tracing::debug!(%peer, "the client took too long to agree on encryption"),
    }
}

async fn serve(
    http: Http,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    tls: bool,
    mut stop: watch::Receiver<bool>,
) {
    let stream = SlowClientGuard::new(stream, http.header_timeout, http.write_timeout);
    let Client { peer, router, slot } = client;
    let connection = Connection {
        peer: Some(peer),
        tls,
    };
    let service = service_fn(move |mut request: Request<Incoming>| {
        let active = slot.begin_request();
        request.extensions_mut().insert(connection);
        let reply = router.clone().oneshot(request);
        async move { Ok::<_, Infallible>(reply.await?.map(|body| active.until_end_of(body))) }
    });
    let connection = http.builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopped(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "connection ended");
    }
}
