//! Several nodes in one process, over a catalogue in PostgreSQL and an object store in memory.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt};
use parking_lot::Mutex;

use super::postgres_server::PostgresServer;
use super::*;
use crate::objects::memory::MemoryObjects;
use crate::{
    CopyLease, CopyRequest, HotReply, HotRequest, NodeClient, NodeConfig, NodeId, NodeRecord,
    NodeRole, ObjectsConfig, Replicas, StoreError,
};

/// How long the memtables of other nodes stay pinned.
pub(super) const LIFETIME: Duration = Duration::from_secs(60);
pub(super) const HOUR: Duration = Duration::from_secs(3600);

/// How a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// A request is lost.
    Request,
    /// The reply is lost.
    Reply,
}

/// What a node does that queries of others do not reach. It goes on with everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Away {
    Refuses,
    Hangs,
}

/// The nodes of a test, which reach each other in this process.
#[derive(Debug, Default)]
pub(super) struct Wires {
    stores: Mutex<HashMap<NodeId, Weak<Store>>>,
    /// Nodes, by their names, to which copies cannot be sent: after how many further requests.
    cuts: Mutex<HashMap<String, (usize, Cut)>>,
    /// Nodes, by their names, that queries do not reach.
    away: Mutex<HashMap<String, Away>>,
}

impl Wires {
    /// Cuts the connections over which a node gets copies, after some further requests.
    pub(super) fn cut(&self, name: &str, after: usize, cut: Cut) {
        self.cuts.lock().insert(name.to_owned(), (after, cut));
    }

    /// Keeps queries of other nodes from a node.
    pub(super) fn part(&self, name: &str, away: Away) {
        self.away.lock().insert(name.to_owned(), away);
    }

    /// Mends all connections.
    pub(super) fn mend(&self) {
        self.cuts.lock().clear();
        self.away.lock().clear();
    }

    /// The cut that a request to a node meets.
    fn next_cut(&self, name: &str) -> Option<Cut> {
        let mut cuts = self.cuts.lock();
        let (after, cut) = cuts.get_mut(name)?;
        if *after > 0 {
            *after -= 1;
            return None;
        }
        Some(*cut)
    }

    fn find(&self, node: &NodeRecord) -> crate::Result<Arc<Store>> {
        let found = self.stores.lock().get(&node.id).and_then(Weak::upgrade);
        found.ok_or_else(|| StoreError::Node {
            name: node.name.clone(),
            what: "is away".to_owned(),
        })
    }
}

#[async_trait]
impl NodeClient for Wires {
    async fn open(
        &self,
        node: &NodeRecord,
        sealed: u64,
        lifetime: Duration,
    ) -> crate::Result<HotReply> {
        let away = self.away.lock().get(&node.name).copied();
        match away {
            None => self.find(node)?.open_hot(sealed, lifetime).await,
            Some(Away::Refuses) => Err(StoreError::Node {
                name: node.name.clone(),
                what: "is cut off".to_owned(),
            }),
            Some(Away::Hangs) => std::future::pending().await,
        }
    }

    async fn open_copy(
        &self,
        node: &NodeRecord,
        lease: CopyLease,
        lifetime: Duration,
    ) -> crate::Result<HotReply> {
        self.find(node)?.open_copy(lease, lifetime).await
    }

    fn read(
        &self,
        node: &NodeRecord,
        request: HotRequest,
    ) -> BoxStream<'static, crate::Result<RecordBatch>> {
        let rows = self.find(node).and_then(|store| {
            let rows = store.read_hot(&request);
            rows.ok_or_else(|| StoreError::Node {
                name: node.name.clone(),
                what: "has ended the lease".to_owned(),
            })
        });
        let mut rows = match rows {
            Ok(rows) => rows,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        stream::iter(std::iter::from_fn(move || rows.next_part().transpose())).boxed()
    }

    async fn copy(&self, node: &NodeRecord, request: CopyRequest) -> crate::Result<u64> {
        let lost = || StoreError::Node {
            name: node.name.clone(),
            what: "is cut off".to_owned(),
        };
        let cut = self.next_cut(&node.name);
        if cut == Some(Cut::Request) {
            return Err(lost());
        }
        let copied = self.find(node)?.hold_copy(request).await;
        if cut == Some(Cut::Reply) {
            return Err(lost());
        }
        copied
    }

    fn close(&self, node: &NodeRecord, lease: Uuid) {
        assert!(!lease.is_nil(), "a memtable without rows is not pinned");
        if let Ok(store) = self.find(node) {
            store.close_hot(lease);
        }
    }
}

/// A catalogue, an object store and the folders of nodes.
pub(super) struct Cluster {
    pub(super) server: PostgresServer,
    pub(super) objects: MemoryObjects,
    pub(super) folders: tempfile::TempDir,
    pub(super) wires: Arc<Wires>,
    pub(super) clock: Arc<ManualClock>,
}

impl Cluster {
    pub(super) fn start() -> Option<Cluster> {
        let server = PostgresServer::start()?;
        let objects = MemoryObjects::default();
        objects.set_time(START);
        Some(Cluster {
            server,
            objects,
            folders: tempfile::tempdir().unwrap(),
            wires: Arc::default(),
            clock: manual_clock(),
        })
    }

    pub(super) fn config(&self, name: &str, role: NodeRole) -> StoreConfig {
        StoreConfig {
            catalogue: self.server.place(),
            clock: self.clock.clone(),
            objects: Some(ObjectsConfig::new(Arc::new(self.objects.clone()))),
            node_client: Some(self.wires.clone()),
            node_wait: Duration::ZERO,
            replicas: Replicas::None,
            node: NodeConfig {
                name: name.to_owned(),
                role,
                address: "in this process".to_owned(),
                version: "1".to_owned(),
            },
            ..quiet(&self.folders.path().join(name))
        }
    }

    pub(super) async fn open(&self, config: StoreConfig) -> Arc<Store> {
        let store = Store::open(config).await.unwrap();
        let id = store.catalogue().node().unwrap();
        self.wires.stores.lock().insert(id, Arc::downgrade(&store));
        store.join().await.unwrap();
        // The time that a node waits before it takes telemetry: the others read the catalogue again before their next query.
        self.clock.pass(Duration::from_secs(3));
        store
    }

    /// A node whose log has a second copy.
    pub(super) async fn replicated(&self, name: &str) -> Arc<Store> {
        let config = StoreConfig {
            replicas: Replicas::One,
            ..self.config(name, NodeRole::All)
        };
        self.open(config).await
    }

    /// A node whose log has a second copy where another node can have it.
    pub(super) async fn automatic(&self, name: &str) -> Arc<Store> {
        let config = StoreConfig {
            replicas: Replicas::Auto,
            ..self.config(name, NodeRole::All)
        };
        self.open(config).await
    }

    /// A node whose log has no second copy.
    pub(super) async fn node(&self, name: &str) -> Arc<Store> {
        self.open(self.config(name, NodeRole::All)).await
    }
}

/// The ids of an application's requests at all nodes, as a query at one of them sees them.
pub(super) async fn all_ids(store: &Store, app: AppId) -> Vec<String> {
    let snapshot = store.snapshot_of_all(LIFETIME).await.unwrap();
    ids_of(frame(&snapshot, app)).await
}
