//! Calls of other nodes: one connection of HTTP/2 to each.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use arrow::ipc::reader::StreamReader;
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use axum::http::{HeaderMap, HeaderValue, Request, Response, header};
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use hindsight_store::{
    CopyLease, CopyRequest, HotReply, HotRequest, NodeClient, NodeRecord, StoreError,
};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use parking_lot::Mutex;
use prost::Message;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use url::Url;
use uuid::Uuid;

use super::call_body::CallBody;
use super::frames::{Frames, frame};
use super::messages::{
    CloseReply, CloseRequest, CopyMessage, CopyReply, OpenCopyRequest, OpenReply, OpenRequest,
    ReadReply, ReadRequest,
};
use super::secret::NodeSecret;

/// Longest time for a connection.
const CONNECT: Duration = Duration::from_secs(2);
/// Longest time for the reply to a call, and for each part of a stream.
const REPLY: Duration = Duration::from_secs(5);
const PART: Duration = Duration::from_secs(30);
/// Bytes that a stream, and a connection, may receive before they are read.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Replies of a stream that wait for their reader: rows and their end, which arrive together.
const RECEIVED: usize = 2;

/// Reaches other nodes over gRPC.
#[derive(Debug, Clone)]
pub(crate) struct GrpcNodes {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Where connections live.
    runtime: Handle,
    authorization: HeaderValue,
    tls: Arc<rustls::ClientConfig>,
    connections: Mutex<HashMap<String, SendRequest<CallBody>>>,
}

impl GrpcNodes {
    /// Calls with this secret, on the runtime of the caller.
    pub(crate) fn new(secret: &NodeSecret) -> anyhow::Result<GrpcNodes> {
        let mut tls = hindsight_identity::client_tls();
        tls.alpn_protocols = vec![b"h2".to_vec()];
        Ok(GrpcNodes {
            shared: Arc::new(Shared {
                runtime: Handle::current(),
                authorization: secret.header()?,
                tls: Arc::new(tls),
                connections: Mutex::default(),
            }),
        })
    }

    /// A connection to an address.
    async fn connection(&self, address: &str) -> Result<SendRequest<CallBody>, String> {
        let known = self.shared.connections.lock().get(address).cloned();
        if let Some(known) = known.filter(|known| !known.is_closed()) {
            return Ok(known);
        }
        let connected = tokio::time::timeout(CONNECT, self.connect(address)).await;
        let connected = connected
            .map_err(|_| format!("no connection within {} s", CONNECT.as_secs()))
            .and_then(|connected| connected);
        let connection =
            connected.map_err(|error| format!("cannot be reached at {address}: {error}"))?;
        let mut connections = self.shared.connections.lock();
        connections.insert(address.to_owned(), connection.clone());
        Ok(connection)
    }

    async fn connect(&self, address: &str) -> Result<SendRequest<CallBody>, String> {
        let url = Url::parse(address).map_err(|error| error.to_string())?;
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err("it names no host".to_owned());
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((host, port)).await;
        let stream = stream.map_err(|error| error.to_string())?;
        let _ = stream.set_nodelay(true);
        if url.scheme() != "https" {
            return handshake(stream).await;
        }
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let tls = TlsConnector::from(self.shared.tls.clone());
        let stream = tls.connect(name, stream).await;
        handshake(stream.map_err(|error| error.to_string())?).await
    }

    /// Calls a method; the reply has no body yet.
    async fn call(
        &self,
        address: &str,
        method: &str,
        body: CallBody,
    ) -> Result<Response<Incoming>, String> {
        let address = address.trim_end_matches('/');
        let mut connection = self.connection(address).await?;
        let request = Request::post(format!("{address}/hindsight.nodes.v1.Nodes/{method}"))
            .header(header::CONTENT_TYPE, "application/grpc")
            .header(header::TE, "trailers")
            .header(header::AUTHORIZATION, self.shared.authorization.clone())
            .body(body)
            .map_err(|error| error.to_string())?;
        let replied = tokio::time::timeout(REPLY, connection.send_request(request)).await;
        let reply = match replied {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => return Err(format!("cannot be reached at {address}: {error}")),
            Err(_) => {
                // The next call opens another connection.
                self.shared.connections.lock().remove(address);
                return Err(format!("does not reply at {address}"));
            }
        };
        if reply.status() != 200 {
            return Err(format!("replies at {address} with {}", reply.status()));
        }
        check(reply.headers())?;
        Ok(reply)
    }

    /// Calls a method with one reply.
    async fn unary<M: Message + Default>(
        &self,
        address: &str,
        method: &str,
        message: &impl Message,
    ) -> Result<M, String> {
        let body = CallBody::of(frame(message));
        let reply = self.call(address, method, body).await?;
        let mut messages = Box::pin(messages(reply.into_body()));
        let first = messages.try_next().await?;
        first.ok_or_else(|| format!("has sent no reply at {address}"))
    }

    /// Calls a method with many replies; `read` makes items of them, and leaves out some. Dropping the stream cancels the call.
    pub(super) fn stream<M: Message + Default + 'static, T: Send + 'static>(
        &self,
        address: &str,
        method: &'static str,
        body: CallBody,
        read: fn(M) -> Result<Option<T>, String>,
    ) -> BoxStream<'static, Result<T, String>> {
        let (client, address) = (self.clone(), address.to_owned());
        let (sender, receiver) = mpsc::channel(RECEIVED);
        // Threads of queries have no sockets. The task ends with the reader, or with the connection.
        self.shared.runtime.spawn(async move {
            let reading = async {
                let reply = client.call(&address, method, body).await?;
                let mut replies = Box::pin(messages::<M>(reply.into_body()));
                while let Some(reply) = replies.try_next().await? {
                    let Some(item) = read(reply).transpose() else {
                        continue;
                    };
                    if sender.send(item).await.is_err() {
                        return Ok(());
                    }
                }
                Ok(())
            };
            tokio::select! {
                read = reading => if let Err(error) = read {
                    // The end of the channel alone is a good end.
                    let _ = sender.send(Err(error)).await;
                },
                () = sender.closed() => {}
            }
        });
        ReceiverStream::new(receiver).boxed()
    }

    /// Calls a method that pins rows.
    async fn pin(
        &self,
        node: &NodeRecord,
        method: &str,
        request: &impl Message,
    ) -> Result<HotReply, StoreError> {
        let failed = of_node(&node.name);
        let reply = self.unary::<OpenReply>(&node.address, method, request);
        let reply = reply.await.map_err(&failed)?;
        reply
            .read()
            .ok_or_else(|| failed("has sent a reply without a meaning".to_owned()))
    }
}

pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

async fn handshake(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<SendRequest<CallBody>, String> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .keep_alive_interval(Duration::from_secs(10))
        .keep_alive_timeout(Duration::from_secs(5));
    let opened = builder.handshake(TokioIo::new(stream)).await;
    let (sender, connection) = opened.map_err(|error| error.to_string())?;
    tokio::spawn(async move {
        // Each pending call gets the error.
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to another node ended");
        }
    });
    Ok(sender)
}

/// Refuses a status of gRPC that is not good; a reply in progress has none yet.
fn check(headers: &HeaderMap) -> Result<(), String> {
    match Status::from_header_map(headers) {
        Some(status) if status.code() != tonic::Code::Ok => {
            Err(format!("refuses: {}", status.message()))
        }
        _ => Ok(()),
    }
}

/// The messages of a reply, to its good end.
fn messages<M: Message + Default>(
    body: Incoming,
) -> impl futures::Stream<Item = Result<M, String>> {
    let state = (body, Frames::default(), false);
    stream::try_unfold(state, |(mut body, mut frames, mut ended)| async move {
        loop {
            if let Some(message) = frames.next()? {
                return Ok(Some((message, (body, frames, ended))));
            }
            if ended {
                return Ok(None);
            }
            let received = tokio::time::timeout(PART, body.frame()).await;
            let received =
                received.map_err(|_| format!("has sent nothing for {} s", PART.as_secs()))?;
            let part = match received {
                Some(Ok(part)) => part,
                Some(Err(error)) => return Err(format!("has ended a reply: {error}")),
                // A reply without a status is not whole.
                None => return Err("has ended a reply before its end".to_owned()),
            };
            match part.into_data() {
                Ok(data) => frames.add(&data),
                Err(part) => {
                    let trailers = part.into_trailers().unwrap_or_default();
                    if !trailers.contains_key("grpc-status") {
                        return Err("has ended a reply without a status".to_owned());
                    }
                    check(&trailers)?;
                    ended = true;
                }
            }
        }
    })
}

/// The batch of an Arrow IPC stream.
pub(super) fn rows(ipc: Bytes) -> Result<RecordBatch, String> {
    let unreadable = |error: String| format!("has sent rows that cannot be read: {error}");
    let reader = StreamReader::try_new(Cursor::new(ipc), None);
    let mut reader = reader.map_err(|error| unreadable(error.to_string()))?;
    match reader.next() {
        Some(batch) => batch.map_err(|error| unreadable(error.to_string())),
        None => Err(unreadable("a batch is missing".to_owned())),
    }
}

pub(super) fn of_node(name: &str) -> impl Fn(String) -> StoreError + Send + 'static {
    let name = name.to_owned();
    move |what| StoreError::Node {
        name: name.clone(),
        what,
    }
}

#[async_trait]
impl NodeClient for GrpcNodes {
    async fn open(
        &self,
        node: &NodeRecord,
        sealed: u64,
        lifetime: Duration,
    ) -> Result<HotReply, StoreError> {
        let request = OpenRequest {
            node: node.id.to_string(),
            sealed,
            lifetime_ms: milliseconds(lifetime),
        };
        self.pin(node, "Open", &request).await
    }

    fn read(
        &self,
        node: &NodeRecord,
        request: HotRequest,
    ) -> BoxStream<'static, Result<RecordBatch, StoreError>> {
        let request = ReadRequest::from(request);
        let body = CallBody::of(frame(&request));
        let batches = self.stream(&node.address, "Read", body, |reply: ReadReply| {
            rows(reply.stream).map(Some)
        });
        batches.map_err(of_node(&node.name)).boxed()
    }

    async fn copy(&self, node: &NodeRecord, request: CopyRequest) -> Result<u64, StoreError> {
        let request = CopyMessage::to(node.id, request);
        let copied = self.unary::<CopyReply>(&node.address, "Copy", &request);
        copied
            .await
            .map(|reply| reply.last)
            .map_err(of_node(&node.name))
    }

    async fn open_copy(
        &self,
        node: &NodeRecord,
        lease: CopyLease,
        lifetime: Duration,
    ) -> Result<HotReply, StoreError> {
        let request = OpenCopyRequest::to(node.id, lease, milliseconds(lifetime));
        self.pin(node, "OpenCopy", &request).await
    }

    fn close(&self, node: &NodeRecord, lease: Uuid) {
        let (client, address) = (self.clone(), node.address.clone());
        let request = CloseRequest {
            lease: lease.to_string(),
        };
        self.shared.runtime.spawn(async move {
            let closed = client.unary::<CloseReply>(&address, "Close", &request);
            if let Err(error) = closed.await {
                // It ends with its time.
                tracing::debug!(%error, "a lease was not released");
            }
        });
    }
}
