//! Connections: their limits and their graceful end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::moving::Moving;
use crate::config::Settings;

/// Bytes of a request's line and headers.
const HEADER_BYTES: usize = 64 << 10;
/// Connections at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 4_096;
/// Streams of an HTTP/2 connection.
const MAX_STREAMS: u32 = 128;
/// Resets of streams that were not yet accepted (rapid reset).
const MAX_PENDING_RESETS: usize = 32;

/// Accepts connections until `stop` becomes true, then waits for open requests as long as is set.
pub(crate) async fn run(
    listener: TcpListener,
    router: Router,
    mut stop: watch::Receiver<bool>,
    settings: &Settings,
) {
    let (header_timeout, write_timeout) = (settings.header_timeout, settings.write_timeout);
    let builder = builder(header_timeout);
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
                let (builder, router, stop) = (builder.clone(), router.clone(), stop.clone());
                let _ = stream.set_nodelay(true);
                let stream = Moving::new(stream, header_timeout, write_timeout);
                connections.spawn(async move {
                    serve(builder, stream, peer, router, stop).await;
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

async fn serve(
    builder: Builder<TokioExecutor>,
    stream: Moving<TcpStream>,
    peer: SocketAddr,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let service = TowerToHyperService::new(router.layer(Extension(ConnectInfo(peer))));
    let connection = builder.serve_connection(TokioIo::new(stream), service);
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
