//! Fragments of queries that nodes run for each other.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use futures::{Stream, StreamExt, TryStreamExt};
use hindsight_engine::{
    EngineError, FragmentCall, FragmentReply, FragmentRequest, FragmentRows, QueryEngine,
    QueryNodes,
};
use hindsight_store::{NodeId, NodeRecord, Store};
use http_body::Frame;
use prost::Message;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};

use super::call_body::CallBody;
use super::client::{GrpcNodes, milliseconds, of_node, rows};
use super::frames::frame;
use super::replies::{ipc, trailers};

/// The method that runs a fragment.
pub(super) const METHOD: &str = "RunFragment";

/// The version of the program. Plans are exchanged between programs of one version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How often a node that runs a fragment reports that it still does.
const STILL_RUNNING: Duration = Duration::from_secs(5);

/// Bytes of rows that are encoded in less time than it takes to wake another thread.
const ENCODED_AT_ONCE: usize = 256 << 10;

/// Frames of a reply that wait for the connection: rows, their end, and the end of the reply.
const AHEAD: usize = 3;

/// A fragment for a node.
#[derive(Clone, PartialEq, Message)]
pub(super) struct FragmentMessage {
    /// The id of the node that is meant.
    #[prost(string, tag = "1")]
    pub(super) node: String,
    /// The version of the program that has written the plan.
    #[prost(string, tag = "2")]
    version: String,
    #[prost(bytes = "bytes", tag = "3")]
    plan: Bytes,
    #[prost(string, tag = "4")]
    principal: String,
    #[prost(uint64, tag = "5")]
    timeout_ms: u64,
}

/// A part of the output of a fragment. One without rows that is not the last says that the fragment still runs.
#[derive(Clone, PartialEq, Message)]
struct FragmentPart {
    /// An Arrow IPC stream of one batch.
    #[prost(bytes = "bytes", tag = "1")]
    stream: Bytes,
    /// Whether all rows have been sent.
    #[prost(bool, tag = "2")]
    is_end: bool,
    #[prost(uint64, tag = "3")]
    rows_scanned: u64,
    #[prost(uint64, tag = "4")]
    bytes_scanned: u64,
}

impl FragmentMessage {
    fn to(node: NodeId, request: FragmentRequest) -> FragmentMessage {
        FragmentMessage {
            node: node.to_string(),
            version: VERSION.to_owned(),
            plan: request.message,
            principal: request.principal.to_string(),
            timeout_ms: milliseconds(request.timeout),
        }
    }

    /// The request.
    ///
    /// # Errors
    /// Another version of the program has written it.
    pub(super) fn read(self) -> Result<FragmentRequest, String> {
        if self.version != VERSION {
            let version = self.version;
            return Err(format!(
                "a plan of version {version} cannot be read by version {VERSION}"
            ));
        }
        Ok(FragmentRequest {
            message: self.plan,
            principal: self.principal.into(),
            timeout: Duration::from_millis(self.timeout_ms),
        })
    }
}

impl FragmentPart {
    fn of(reply: FragmentReply) -> anyhow::Result<FragmentPart> {
        Ok(match reply {
            FragmentReply::Rows(batch) => FragmentPart {
                stream: ipc(&batch)?.into(),
                ..FragmentPart::default()
            },
            FragmentReply::End {
                rows_scanned,
                bytes_scanned,
            } => FragmentPart {
                is_end: true,
                rows_scanned,
                bytes_scanned,
                ..FragmentPart::default()
            },
        })
    }

    fn read(self) -> Result<Option<FragmentReply>, String> {
        if self.is_end {
            return Ok(Some(FragmentReply::End {
                rows_scanned: self.rows_scanned,
                bytes_scanned: self.bytes_scanned,
            }));
        }
        if self.stream.is_empty() {
            return Ok(None);
        }
        rows(self.stream).map(|batch| Some(FragmentReply::Rows(batch)))
    }
}

/// The nodes of a catalogue, for queries.
#[derive(Debug)]
pub(crate) struct ClusterNodes {
    store: Arc<Store>,
    client: GrpcNodes,
}

impl ClusterNodes {
    /// The nodes that share the catalogue of `store`.
    pub(crate) fn new(store: Arc<Store>, client: GrpcNodes) -> ClusterNodes {
        ClusterNodes { store, client }
    }
}

impl QueryNodes for ClusterNodes {
    fn own(&self) -> Option<NodeId> {
        self.store.catalogue().node()
    }

    fn others(&self) -> Vec<NodeRecord> {
        let mut nodes = self.store.query_nodes();
        nodes.retain(|node| node.version == VERSION);
        nodes
    }

    fn run(&self, node: &NodeRecord, request: FragmentRequest) -> FragmentCall {
        metrics::counter!("hindsight_fragments_sent_total").increment(1);
        let request = FragmentMessage::to(node.id, request);
        let (body, sent) = CallBody::of(frame(&request)).with_notification();
        let parts = self
            .client
            .stream(&node.address, METHOD, body, FragmentPart::read);
        let failed = |_: &String| {
            metrics::counter!("hindsight_fragments_failed_total").increment(1);
        };
        let replies = parts.inspect_err(failed).map_err(of_node(&node.name));
        FragmentCall {
            replies: replies.boxed(),
            sent,
        }
    }
}

/// The frames of the reply to a fragment. The fragment is cancelled when they are dropped.
pub(super) fn replies(
    engine: Arc<QueryEngine>,
    request: FragmentRequest,
) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    metrics::counter!("hindsight_fragments_run_total").increment(1);
    let (sender, receiver) = mpsc::channel(AHEAD);
    tokio::spawn(async move {
        let last = tokio::select! {
            ran = run(&engine, request, &sender) => match ran {
                Ok(()) => trailers(Code::Ok),
                Err(status) => {
                    tracing::warn!(message = status.message(), "a part of another node's query failed");
                    let mut trailers = trailers(status.code());
                    // Without the message the code alone is sent.
                    let _ = status.add_header(&mut trailers);
                    trailers
                }
            },
            () = sender.closed() => return,
        };
        // Without a reader there is no reply to end.
        let _ = sender.send(Frame::trailers(last)).await;
    });
    ReceiverStream::new(receiver).map(Ok)
}

/// Runs a fragment and sends its parts.
async fn run(
    engine: &QueryEngine,
    request: FragmentRequest,
    sender: &mpsc::Sender<Frame<Bytes>>,
) -> Result<(), Status> {
    let mut alive = interval_at(Instant::now() + STILL_RUNNING, STILL_RUNNING);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut starting = std::pin::pin!(engine.run_fragment(request));
    let mut rows: FragmentRows = loop {
        tokio::select! {
            started = &mut starting => break started.map_err(failed)?,
            _ = alive.tick() => still_running(sender).await,
        }
    };
    loop {
        let mut next = std::pin::pin!(rows.next());
        let reply = loop {
            tokio::select! {
                reply = &mut next => break reply.map_err(failed)?,
                _ = alive.tick() => still_running(sender).await,
            }
        };
        let Some(reply) = reply else {
            return Ok(());
        };
        let part = part(reply).await;
        let part = part.map_err(|error| Status::internal(error.to_string()))?;
        // A reader that is gone ends the task.
        let _ = sender.send(Frame::data(frame(&part))).await;
    }
}

/// The message of a reply. Large ones are encoded apart from the threads that answer requests.
async fn part(reply: FragmentReply) -> anyhow::Result<FragmentPart> {
    match &reply {
        FragmentReply::Rows(batch) if batch.get_array_memory_size() > ENCODED_AT_ONCE => {
            tokio::task::spawn_blocking(move || FragmentPart::of(reply)).await?
        }
        _ => FragmentPart::of(reply),
    }
}

async fn still_running(sender: &mpsc::Sender<Frame<Bytes>>) {
    // A reader that is gone ends the task.
    let _ = sender
        .send(Frame::data(frame(&FragmentPart::default())))
        .await;
}

fn failed(error: EngineError) -> Status {
    match error {
        EngineError::TimedOut { .. } => Status::deadline_exceeded(error.to_string()),
        EngineError::ResourcesExceeded(what) => Status::resource_exhausted(what),
        error => Status::internal(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use arrow::record_batch::RecordBatch;

    use super::*;

    fn node() -> NodeId {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057".parse();
        id.expect("an id")
    }

    #[test]
    fn requests_are_the_same_after_their_message() {
        let request = FragmentRequest {
            message: Bytes::from_static(b"plan"),
            principal: "key 7".into(),
            timeout: Duration::from_millis(1500),
        };
        let bytes = FragmentMessage::to(node(), request.clone()).encode_to_vec();
        let message = FragmentMessage::decode(bytes.as_slice()).expect("a message");
        assert_eq!(message.read(), Ok(request.clone()));
        let other = FragmentMessage {
            version: "0.0.1".to_owned(),
            ..FragmentMessage::to(node(), request)
        };
        assert!(other.read().is_err_and(|error| error.contains("0.0.1")));
    }

    #[test]
    fn parts_are_rows_an_end_or_nothing() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let batch = RecordBatch::try_from_iter([("n", column)]).expect("a batch");
        let part = FragmentPart::of(FragmentReply::Rows(batch.clone())).expect("a part");
        let read = part.clone().read();
        assert!(matches!(read, Ok(Some(FragmentReply::Rows(read))) if read == batch));
        let end = FragmentReply::End {
            rows_scanned: 3,
            bytes_scanned: 4,
        };
        let read = FragmentPart::of(end).expect("a part").read();
        assert!(matches!(
            read,
            Ok(Some(FragmentReply::End {
                rows_scanned: 3,
                bytes_scanned: 4
            }))
        ));
        assert!(matches!(FragmentPart::default().read(), Ok(None)));
        let damaged = FragmentPart {
            stream: part.stream.slice(..20),
            ..FragmentPart::default()
        };
        assert!(damaged.read().is_err());
    }
}
