//! What a node answers to other nodes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use futures::{Stream, stream};
use hindsight_store::HotRows;
use http_body::Frame;
use http_body_util::StreamBody;
use prost::Message;
use tonic::{Code, Status};

use super::fragments::{self, FragmentMessage};
use super::frames::{Frames, LARGEST, frame};
use super::messages::{
    CloseReply, CloseRequest, CopyMessage, CopyReply, OpenCopyRequest, OpenReply, OpenRequest,
    ReadReply, ReadRequest,
};
use super::replies::{grpc, ipc, one, refused, trailers};
use crate::app::App;

/// The path of a method.
pub(crate) const PATH: &str = "/hindsight.nodes.v1.Nodes/{method}";

/// Bytes of a request, unless it has records.
const LARGEST_REQUEST: usize = 1 << 20;
/// The longest time that a memtable is pinned.
const LONGEST: Duration = Duration::from_secs(3600);

/// A call of another node.
pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Path(method): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match answer(&app, &method, &headers, body).await {
        Ok(response) => response,
        Err(status) => {
            tracing::warn!(%method, code = ?status.code(), message = status.message(), "a call of another node was refused");
            refused(&status)
        }
    }
}

async fn answer(
    app: &Arc<App>,
    method: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Status> {
    let secret = app.settings.node_secret.as_ref();
    if !secret.is_some_and(|secret| secret.is_in(headers)) {
        return Err(Status::unauthenticated(
            "the secret of nodes (`node.secret`) is missing or another one",
        ));
    }
    let largest = match method {
        "Copy" | fragments::METHOD => LARGEST,
        _ => LARGEST_REQUEST,
    };
    let body = axum::body::to_bytes(body, largest).await;
    let body = body.map_err(|_| Status::invalid_argument("the request cannot be read"))?;
    match method {
        "Open" => open(app, message(&body)?).await.map(|reply| one(&reply)),
        "OpenCopy" => open_copy(app, message(&body)?)
            .await
            .map(|reply| one(&reply)),
        "Read" => read(app, message(&body)?),
        fragments::METHOD => run(app, message(&body)?),
        "Copy" => copy(app, message(&body)?).await.map(|reply| one(&reply)),
        "Close" => {
            let request: CloseRequest = message(&body)?;
            let lease = request.lease.parse();
            let lease = lease.map_err(|_| Status::invalid_argument("there is no such lease"))?;
            app.store.close_hot(lease);
            Ok(one(&CloseReply {}))
        }
        _ => Err(Status::unimplemented("there is no such method")),
    }
}

/// Refuses a request for another node: an address may have become that of another one.
fn check_node(app: &App, node: &str) -> Result<(), Status> {
    let own = app.store.catalogue().node().map(|node| node.to_string());
    if own.as_deref() == Some(node) {
        return Ok(());
    }
    Err(Status::failed_precondition(format!(
        "this is the node {}, not {node}",
        own.unwrap_or_default()
    )))
}

async fn copy(app: &App, request: CopyMessage) -> Result<CopyReply, Status> {
    check_node(app, &request.node)?;
    let request = request.read();
    let request = request.ok_or_else(|| Status::invalid_argument("the origin is no node"))?;
    let held = app.store.hold_copy(request).await;
    let last = held.map_err(|error| Status::failed_precondition(error.to_string()))?;
    Ok(CopyReply { last })
}

async fn open(app: &App, request: OpenRequest) -> Result<OpenReply, Status> {
    check_node(app, &request.node)?;
    let lifetime = Duration::from_millis(request.lifetime_ms).min(LONGEST);
    let opened = app.store.open_hot(request.sealed, lifetime).await;
    let opened = opened.map_err(|error| Status::resource_exhausted(error.to_string()))?;
    Ok(OpenReply::from(opened))
}

async fn open_copy(app: &App, request: OpenCopyRequest) -> Result<OpenReply, Status> {
    check_node(app, &request.node)?;
    let lease = request.read();
    let lease = lease.ok_or_else(|| Status::invalid_argument("the origin is no node"))?;
    let lifetime = Duration::from_millis(request.lifetime_ms).min(LONGEST);
    let opened = app.store.open_copy(lease, lifetime).await;
    let opened = opened.map_err(|error| Status::failed_precondition(error.to_string()))?;
    Ok(OpenReply::from(opened))
}

fn read(app: &App, request: ReadRequest) -> Result<Response, Status> {
    let request = request.read();
    let request = request.ok_or_else(|| Status::invalid_argument("there is no such table"))?;
    let rows = app.store.read_hot(&request);
    let rows = rows.ok_or_else(|| Status::not_found("the lease has ended"))?;
    Ok(grpc(Body::new(StreamBody::new(parts(rows)))))
}

fn run(app: &App, request: FragmentMessage) -> Result<Response, Status> {
    check_node(app, &request.node)?;
    let request = request.read().map_err(Status::failed_precondition)?;
    Ok(grpc(Body::new(StreamBody::new(fragments::replies(
        app.engine.clone(),
        request,
    )))))
}

/// The parts of a memtable, each encoded when the one before is sent.
fn parts(rows: HotRows) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    stream::unfold(Some(rows), |rows| async move {
        let rows = rows?;
        let encoded = tokio::task::spawn_blocking(move || encode(rows)).await;
        let (sent, rest) = match encoded {
            Ok(Ok(Some((bytes, rest)))) => (Frame::data(bytes), Some(rest)),
            Ok(Ok(None)) => (Frame::trailers(trailers(Code::Ok)), None),
            Ok(Err(error)) => {
                tracing::error!(%error, "rows of the memtable could not be encoded");
                (Frame::trailers(trailers(Code::Internal)), None)
            }
            Err(error) => {
                tracing::error!(%error, "rows of the memtable could not be encoded");
                (Frame::trailers(trailers(Code::Internal)), None)
            }
        };
        Some((Ok(sent), rest))
    })
}

fn encode(mut rows: HotRows) -> anyhow::Result<Option<(Bytes, HotRows)>> {
    let Some(part) = rows.next_part()? else {
        return Ok(None);
    };
    let stream = ipc(&part).context("Arrow IPC")?.into();
    Ok(Some((frame(&ReadReply { stream }), rows)))
}

/// The one message of a request.
fn message<M: Message + Default>(body: &[u8]) -> Result<M, Status> {
    let mut frames = Frames::default();
    frames.add(body);
    let read = frames.next().map_err(Status::invalid_argument)?;
    read.filter(|_| frames.is_empty())
        .ok_or_else(|| Status::invalid_argument("the body is not one message of gRPC"))
}
