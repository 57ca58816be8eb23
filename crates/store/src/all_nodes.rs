//! A snapshot over all nodes: the memtables of the others, or the copies of their logs where they do not reply.
//!
//! A copy has every record that its origin had acknowledged before the copy was pinned, if the catalogue still names the copy afterwards:
//! the origin acknowledges a record once the copy that the catalogue names has it, and names another copy before it acknowledges what that one
//! has alone. So it does not matter whether the origin is dead, paused or only cut off.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::timeout;

use crate::copies::read::{Pinned, PinnedCopy};
use crate::error::{Result, StoreError};
use crate::node::{CopyPlace, NodeRecord};
use crate::peers::{CopyLease, HotReply, NodeClient, Peer};
use crate::snapshot::{OtherRows, Snapshot};
use crate::store::Store;
use crate::view::View;

/// How old the catalogue may be that a query over several nodes reads. A node that begins to take telemetry waits longer than that ([`crate::StoreConfig::node_wait`]), so that
/// no query misses it.
const STALE: Duration = Duration::from_secs(2);
/// How often a query reads the catalogue again because a node has sealed meanwhile.
const ATTEMPTS: usize = 4;
/// How long a query waits for a node whose log has a copy. The node counts as away then, and queries read the copy at once.
const AWAY_AFTER: Duration = Duration::from_secs(2);
/// How often a query waits for a holder that still reads its copy into memory.
const READING: usize = 10;

/// The rows of another node, pinned.
enum Opened {
    /// Its memtable, if that has rows.
    Memtable(Option<Arc<Peer>>),
    /// The copy of its log, at a third node, if that has rows.
    Copy(Option<Arc<Peer>>),
    /// The copy of its log, at this node.
    OwnCopy(PinnedCopy),
}

impl Store {
    /// Everything that is stored now, at this node and at others, unchanged for as long as the snapshot lives. Other nodes keep their
    /// part for `lifetime`. A node that runs alone needs no catalogue for it.
    ///
    /// # Errors
    /// [`StoreError::Node`] if neither a node that may hold rows can be reached nor a copy of its log.
    pub async fn snapshot_of_all(&self, lifetime: Duration) -> Result<Snapshot> {
        if !self.is_shared() || self.config.is_alone() {
            return Ok(self.snapshot());
        }
        let at = self.nodes.followed.lock().at;
        let now = self.config.clock.elapsed();
        if at.is_none_or(|at| now.saturating_sub(at) > STALE) {
            self.follow().await?;
        }
        let mut attempt = 1;
        loop {
            let view = self.view.get();
            match self.open_others(&view, lifetime).await {
                Ok(others) => return Ok(self.snapshot_over(view, others)),
                Err(error) if attempt == ATTEMPTS => return Err(error),
                Err(_) => attempt += 1,
            }
            // It has sealed since, or it has ended and is drained, or its log has another copy.
            self.follow().await?;
        }
    }

    /// Pins the rows of all other nodes that may hold some which no segment of the view has.
    async fn open_others(&self, view: &View, lifetime: Duration) -> Result<OtherRows> {
        let due: Vec<&NodeRecord> = view.nodes.iter().filter(|node| !node.drained).collect();
        let opened = due.iter().map(|node| self.open_node(node, view, lifetime));
        let opened = join_all(opened).await;
        let (mut others, mut copied) = (OtherRows::default(), Vec::new());
        for (node, opened) in due.into_iter().zip(opened) {
            let opened = opened?;
            if !matches!(opened, Opened::Memtable(_)) {
                copied.push(node);
            }
            match opened {
                Opened::Memtable(peer) | Opened::Copy(peer) => others.peers.extend(peer),
                Opened::OwnCopy(copy) => others.copies.push(copy),
            }
        }
        self.check_copies(&copied).await?;
        Ok(others)
    }

    /// Fails if copies of these nodes' logs, which are pinned, may lack records that were acknowledged before.
    async fn check_copies(&self, copied: &[&NodeRecord]) -> Result<()> {
        if copied.is_empty() {
            return Ok(());
        }
        let now = self.catalogue.nodes().await?;
        for node in copied {
            let found = now.iter().find(|found| found.id == node.id);
            let is_same = found.is_some_and(|found| {
                (found.log_position, found.copy) == (node.log_position, node.copy)
            });
            if !is_same {
                return Err(failed(
                    node,
                    "has sealed or has another copy of its log since the query began",
                ));
            }
        }
        Ok(())
    }

    async fn open_node(
        &self,
        node: &NodeRecord,
        view: &View,
        lifetime: Duration,
    ) -> Result<Opened> {
        let Some(copy) = node.copy else {
            let peer = self.open_memtable(node, lifetime).await?;
            return peer.map(Opened::Memtable);
        };
        let mut reason = "does not reply".to_owned();
        if !self.nodes.away.lock().contains(&node.id) {
            match timeout(AWAY_AFTER, self.open_memtable(node, lifetime)).await {
                Ok(Ok(replied)) => return replied.map(Opened::Memtable),
                Ok(Err(error)) => reason = what_of(error),
                Err(_) => {}
            }
            tracing::warn!(node = %node.name, reason, "a node does not reply; queries read the copy of its log");
            self.nodes.away.lock().insert(node.id);
        }
        let read = self.open_copy_of(node, copy, view, lifetime).await;
        match read {
            Ok(Some(opened)) => Ok(opened),
            Ok(None) => Err(failed(node, "has sealed while the query began")),
            Err(error) => {
                // The next attempt tries the node itself again.
                self.nodes.away.lock().remove(&node.id);
                let what = format!("{reason}, and the copy of its log cannot be read: {error}");
                Err(failed(node, &what))
            }
        }
    }

    /// Pins the memtable of a node, if that has rows. The inner error is one of a node that replies.
    async fn open_memtable(
        &self,
        node: &NodeRecord,
        lifetime: Duration,
    ) -> Result<Result<Option<Arc<Peer>>>> {
        let client = self.client_of(node)?;
        Ok(
            match client.open(node, node.log_position, lifetime).await? {
                HotReply::Open { lease, tables } => Ok(Some(Arc::new(Peer::new(
                    client.clone(),
                    node.clone(),
                    lease,
                    tables,
                )))),
                HotReply::Empty => Ok(None),
                HotReply::Gone => Err(failed(node, "has sealed while the query began")),
                HotReply::Behind => Err(failed(node, "does not know of a seal of its own yet")),
            },
        )
    }

    /// Pins the copy of a node's log at its holder; `None` if the holder knows of a later moment of the catalogue.
    async fn open_copy_of(
        &self,
        node: &NodeRecord,
        copy: CopyPlace,
        view: &View,
        lifetime: Duration,
    ) -> Result<Option<Opened>> {
        let lease = CopyLease {
            origin: node.id,
            generation: copy.generation,
            position: node.log_position,
            ends: copy.ends,
        };
        let holder = view.nodes.iter().find(|node| node.id == copy.holder);
        for _ in 0..READING {
            if self.catalogue.node() == Some(copy.holder) {
                match self.pin_copy(lease).await? {
                    Pinned::Rows(copy) => return Ok(Some(Opened::OwnCopy(copy))),
                    Pinned::Gone => return Ok(None),
                    Pinned::Unfinished => continue,
                }
            }
            let Some(holder) = holder else {
                return Err(failed(node, "has its copy at a node that is not known"));
            };
            let client = self.client_of(holder)?;
            match client.open_copy(holder, lease, lifetime).await? {
                HotReply::Open { lease, tables } => {
                    let peer = Peer::new(client.clone(), holder.clone(), lease, tables);
                    return Ok(Some(Opened::Copy(Some(Arc::new(peer)))));
                }
                HotReply::Empty => return Ok(Some(Opened::Copy(None))),
                HotReply::Gone => return Ok(None),
                HotReply::Behind => {}
            }
        }
        Err(failed(
            node,
            "has a large log, and its copy is still being read",
        ))
    }

    /// How a node is reached.
    fn client_of(&self, node: &NodeRecord) -> Result<&Arc<dyn NodeClient>> {
        if node.address.is_empty() {
            return Err(failed(
                node,
                "offers no address to other nodes (its setting `node.address`)",
            ));
        }
        let client = self.config.node_client.as_ref();
        client.ok_or_else(|| {
            failed(
                node,
                "cannot be asked: there is no secret of nodes (setting `node.secret`)",
            )
        })
    }

    /// The other nodes that run queries now and reply, as far as this one knows.
    pub fn query_nodes(&self) -> Vec<NodeRecord> {
        let away = self.nodes.away.lock().clone();
        let runs_queries = |node: &&NodeRecord| {
            node.is_live()
                && node.role.queries()
                && !node.address.is_empty()
                && !away.contains(&node.id)
        };
        let view = self.view.get();
        view.nodes.iter().filter(runs_queries).cloned().collect()
    }

    /// Looks whether nodes that are away reply again. The background task does this every second.
    pub(crate) async fn look_for_away(&self) {
        let away = self.nodes.away.lock().clone();
        let view = self.view.get();
        let looks = away.into_iter().map(|id| {
            let node = view.nodes.iter().find(|node| node.id == id);
            async move {
                let is_away = match node.filter(|node| !node.drained && node.copy.is_some()) {
                    // The lease is released at once.
                    Some(node) => !timeout(AWAY_AFTER, self.open_memtable(node, AWAY_AFTER))
                        .await
                        .is_ok_and(|replied| replied.is_ok()),
                    None => false,
                };
                if !is_away {
                    self.nodes.away.lock().remove(&id);
                }
            }
        });
        join_all(looks).await;
    }
}

fn failed(node: &NodeRecord, what: &str) -> StoreError {
    StoreError::Node {
        name: node.name.clone(),
        what: what.to_owned(),
    }
}

/// The error without the name of its node.
fn what_of(error: StoreError) -> String {
    match error {
        StoreError::Node { what, .. } => what,
        error => error.to_string(),
    }
}
