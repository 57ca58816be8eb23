//! Connections: their limits and their graceful end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;

use super::moving::Moving;
use crate::config::Settings;
use crate::connection::Connection;

/// How long a client may take to agree on encryption.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's line and headers.
const HEADER_BYTES: usize = 64 << 10;
/// Connections at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 4_096;
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
    let slots = std::sync::Arc::new(tokio::sync::Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else {
            break;
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(&mut stop) => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let (http, router, stop) = (http.clone(), router.clone(), stop.clone());
                let tls = tls.clone();
                connections.spawn(async move {
                    open(http, stream, tls, peer, router, stop).await;
                    drop(slot);
                });
            }
            Err(error) => {
                // Too many open files, say: pause instead of spinning.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
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

/// Agrees on encryption where the listener has it, then serves.
async fn open(
    http: Http,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    peer: SocketAddr,
    router: Router,
    stop: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let connection = Connection {
        peer: Some(peer),
        tls: tls.is_some(),
    };
    let router = router.layer(Extension(connection));
    let Some(tls) = tls else {
        return serve(http, stream, peer, router, stop).await;
    };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
        Ok(Ok(stream)) => serve(http, stream, peer, router, stop).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no encryption was agreed on"),
        Err(_) => tracing::debug!(%peer, "the client took too long to agree on encryption"),
    }
}

async fn serve(
    http: Http,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let stream = Moving::new(stream, http.header_timeout, http.write_timeout);
    let service = TowerToHyperService::new(router);
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
