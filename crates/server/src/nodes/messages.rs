//! The messages of the service of nodes. Numbers of fields never change their meaning.

use hindsight_store::{
    AppId, CopyLease, CopyRequest, HotReply, HotRequest, HotTable, NodeId, Table,
};
use prost::Message;
use uuid::Uuid;

/// A query wants to read the memtable of a node.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OpenRequest {
    /// The id of the node that is meant: its address may have become that of another one.
    #[prost(string, tag = "1")]
    pub(super) node: String,
    /// The position of the node's log in the catalogue that the query reads.
    #[prost(uint64, tag = "2")]
    pub(super) sealed: u64,
    /// How long the memtable is pinned at most.
    #[prost(uint64, tag = "3")]
    pub(super) lifetime_ms: u64,
}

/// A query wants to read the copy of a log at its holder. The reply is that to [`OpenRequest`].
#[derive(Clone, PartialEq, Message)]
pub(super) struct OpenCopyRequest {
    /// The id of the holder.
    #[prost(string, tag = "1")]
    pub(super) node: String,
    /// The id of the node whose log it is.
    #[prost(string, tag = "2")]
    pub(super) origin: String,
    #[prost(uint64, tag = "3")]
    pub(super) generation: u64,
    /// The position of the log in the catalogue that the query reads.
    #[prost(uint64, tag = "4")]
    pub(super) position: u64,
    /// The last record that may have been acknowledged.
    #[prost(uint64, tag = "5")]
    pub(super) ends: u64,
    /// How long the copy is pinned at most.
    #[prost(uint64, tag = "6")]
    pub(super) lifetime_ms: u64,
}

/// The reply to [`OpenRequest`] and [`OpenCopyRequest`].
#[derive(Clone, PartialEq, Message)]
pub(super) struct OpenReply {
    /// 1: the memtable is pinned, with a nil lease if it has no rows; 2: rows after the position are sealed; 3: the node has yet to see a seal of its own, or
    /// still reads the copy.
    #[prost(uint32, tag = "1")]
    pub(super) outcome: u32,
    #[prost(string, tag = "2")]
    pub(super) lease: String,
    // Tag 3 was the last sequence of the log, which no node has read.
    #[prost(message, repeated, tag = "4")]
    pub(super) tables: Vec<TableMessage>,
}

/// What a memtable holds of an application's table.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TableMessage {
    #[prost(string, tag = "1")]
    pub(super) app: String,
    #[prost(string, tag = "2")]
    pub(super) table: String,
    #[prost(uint64, tag = "3")]
    pub(super) rows: u64,
    #[prost(sint64, tag = "4")]
    pub(super) min_ts: i64,
    #[prost(sint64, tag = "5")]
    pub(super) max_ts: i64,
}

/// A query reads rows of a pinned memtable.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ReadRequest {
    #[prost(string, tag = "1")]
    pub(super) lease: String,
    #[prost(string, tag = "2")]
    pub(super) app: String,
    #[prost(string, tag = "3")]
    pub(super) table: String,
    #[prost(string, repeated, tag = "4")]
    pub(super) columns: Vec<String>,
    #[prost(sint64, tag = "5")]
    pub(super) from: i64,
    #[prost(sint64, tag = "6")]
    pub(super) to: i64,
}

/// Some rows.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ReadReply {
    /// An Arrow IPC stream of one batch.
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) stream: bytes::Bytes,
}

/// A query has read a memtable.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CloseRequest {
    #[prost(string, tag = "1")]
    pub(super) lease: String,
}

/// The reply to [`CloseRequest`].
#[derive(Clone, PartialEq, Message)]
pub(super) struct CloseReply {}

/// Records of a node's log for its copy at another node.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CopyMessage {
    /// The id of the node that is meant.
    #[prost(string, tag = "1")]
    pub(super) node: String,
    /// The id of the node whose log it is.
    #[prost(string, tag = "2")]
    pub(super) origin: String,
    #[prost(uint64, tag = "3")]
    pub(super) generation: u64,
    #[prost(uint64, tag = "4")]
    pub(super) first: u64,
    #[prost(bytes = "bytes", tag = "5")]
    pub(super) records: bytes::Bytes,
}

/// The reply to [`CopyMessage`], once the records are durable.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CopyReply {
    /// The last sequence of the copy.
    #[prost(uint64, tag = "1")]
    pub(super) last: u64,
}

impl CopyMessage {
    /// The message to a node.
    pub(super) fn to(node: NodeId, request: CopyRequest) -> CopyMessage {
        CopyMessage {
            node: node.to_string(),
            origin: request.origin.to_string(),
            generation: request.generation,
            first: request.first,
            records: request.records,
        }
    }

    /// The request; `None` if a field has no meaning.
    pub(super) fn read(self) -> Option<CopyRequest> {
        Some(CopyRequest {
            origin: self.origin.parse().ok()?,
            generation: self.generation,
            first: self.first,
            records: self.records,
        })
    }
}

impl OpenCopyRequest {
    /// The message to a holder.
    pub(super) fn to(node: NodeId, lease: CopyLease, lifetime_ms: u64) -> OpenCopyRequest {
        OpenCopyRequest {
            node: node.to_string(),
            origin: lease.origin.to_string(),
            generation: lease.generation,
            position: lease.position,
            ends: lease.ends,
            lifetime_ms,
        }
    }

    /// The copy; `None` if a field has no meaning.
    pub(super) fn read(&self) -> Option<CopyLease> {
        Some(CopyLease {
            origin: self.origin.parse().ok()?,
            generation: self.generation,
            position: self.position,
            ends: self.ends,
        })
    }
}

const OPEN: u32 = 1;
const GONE: u32 = 2;
const BEHIND: u32 = 3;

impl From<HotReply> for OpenReply {
    fn from(reply: HotReply) -> OpenReply {
        let outcome = |outcome| OpenReply {
            outcome,
            ..OpenReply::default()
        };
        let open = |lease: Uuid, tables: &[HotTable]| OpenReply {
            outcome: OPEN,
            lease: lease.to_string(),
            tables: tables.iter().map(TableMessage::of).collect(),
        };
        match reply {
            HotReply::Gone => outcome(GONE),
            HotReply::Behind => outcome(BEHIND),
            HotReply::Open { lease, tables } => open(lease, &tables),
            HotReply::Empty => open(Uuid::nil(), &[]),
        }
    }
}

impl OpenReply {
    /// The reply; `None` if a field has no meaning.
    pub(super) fn read(self) -> Option<HotReply> {
        match self.outcome {
            OPEN => {
                let lease: Uuid = self.lease.parse().ok()?;
                let tables = self.tables.iter().map(TableMessage::read);
                let tables = tables.collect::<Option<Vec<_>>>()?;
                match (lease.is_nil(), tables.is_empty()) {
                    (false, _) => Some(HotReply::Open { lease, tables }),
                    (true, true) => Some(HotReply::Empty),
                    (true, false) => None,
                }
            }
            GONE => Some(HotReply::Gone),
            BEHIND => Some(HotReply::Behind),
            _ => None,
        }
    }
}

impl TableMessage {
    fn of(held: &HotTable) -> TableMessage {
        TableMessage {
            app: held.app.to_string(),
            table: held.table.name().to_owned(),
            rows: held.rows,
            min_ts: held.min_ts,
            max_ts: held.max_ts,
        }
    }

    fn read(&self) -> Option<HotTable> {
        Some(HotTable {
            app: app(&self.app)?,
            table: Table::from_name(&self.table)?,
            rows: self.rows,
            min_ts: self.min_ts,
            max_ts: self.max_ts,
        })
    }
}

impl From<HotRequest> for ReadRequest {
    fn from(request: HotRequest) -> ReadRequest {
        ReadRequest {
            lease: request.lease.to_string(),
            app: request.app.to_string(),
            table: request.table.name().to_owned(),
            columns: request.columns,
            from: request.from,
            to: request.to,
        }
    }
}

impl ReadRequest {
    /// The request; `None` if a field has no meaning.
    pub(super) fn read(self) -> Option<HotRequest> {
        Some(HotRequest {
            lease: self.lease.parse().ok()?,
            app: app(&self.app)?,
            table: Table::from_name(&self.table)?,
            columns: self.columns,
            from: self.from,
            to: self.to,
        })
    }
}

fn app(text: &str) -> Option<AppId> {
    Uuid::parse_str(text).ok().map(AppId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_and_requests_come_back_as_they_were() {
        let table = HotTable {
            app: AppId(Uuid::from_u128(7)),
            table: Table::Traces,
            rows: 3,
            min_ts: -1,
            max_ts: i64::MAX,
        };
        let open = HotReply::Open {
            lease: Uuid::from_u128(8),
            tables: vec![table],
        };
        let rows_without_a_lease = OpenReply {
            lease: Uuid::nil().to_string(),
            ..OpenReply::from(open.clone())
        };
        assert_eq!(rows_without_a_lease.read(), None);
        for reply in [HotReply::Gone, HotReply::Behind, HotReply::Empty, open] {
            let bytes = OpenReply::from(reply.clone()).encode_to_vec();
            let read = OpenReply::decode(bytes.as_slice()).unwrap();
            assert_eq!(read.read(), Some(reply));
        }
        let request = HotRequest {
            lease: Uuid::from_u128(8),
            app: table.app,
            table: Table::Requests,
            columns: vec!["id".to_owned(), "$IngestionTime".to_owned()],
            from: i64::MIN,
            to: 5,
        };
        let bytes = ReadRequest::from(request.clone()).encode_to_vec();
        let read = ReadRequest::decode(bytes.as_slice()).unwrap();
        assert_eq!(read.read(), Some(request));
        assert_eq!(OpenReply::default().read(), None);
        let node: NodeId = Uuid::from_u128(9).to_string().parse().unwrap();
        let request = CopyRequest {
            origin: node,
            generation: 3,
            first: u64::MAX,
            records: bytes::Bytes::from_static(b"records"),
        };
        let bytes = CopyMessage::to(node, request.clone()).encode_to_vec();
        let read = CopyMessage::decode(bytes.as_slice()).unwrap();
        assert_eq!(read.read(), Some(request));
        assert_eq!(CopyMessage::default().read(), None);
        let lease = CopyLease {
            origin: node,
            generation: 3,
            position: 4,
            ends: u64::MAX,
        };
        let bytes = OpenCopyRequest::to(node, lease, 5).encode_to_vec();
        let read = OpenCopyRequest::decode(bytes.as_slice()).unwrap();
        assert_eq!((read.lifetime_ms, read.read()), (5, Some(lease)));
        assert_eq!(OpenCopyRequest::default().read(), None);
    }
}
