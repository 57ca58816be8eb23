//! What a node knows of the others: their commits and their positions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::error::{Result, StoreError};
use crate::hot::first_sequence;
use crate::node::NodeRecord;
use crate::node_state::LastRead;
use crate::store::Store;

impl Store {
    /// Whether other nodes may share the catalogue.
    pub fn is_shared(&self) -> bool {
        self.config.is_shared()
    }

    /// The other nodes of the catalogue, as of the last time that it was read.
    pub fn other_nodes(&self) -> Arc<Vec<NodeRecord>> {
        self.view.get().nodes.clone()
    }

    /// Makes visible what other nodes have committed to the catalogue. The background task does this within
    /// a fifth of a second of a commit.
    ///
    /// # Errors
    /// The catalogue cannot be read; what was visible stays.
    pub async fn follow(&self) -> Result<()> {
        if !self.is_shared() {
            return Ok(());
        }
        // A seal or merge of this node is committed and becomes visible under this lock.
        let _commits = self.commits.lock().await;
        self.settle_change().await?;
        let began = self.config.clock.elapsed();
        let view = self.view.get();
        let states = view.tables.values();
        let segments = states.flat_map(|state| state.segments.iter());
        let known: BTreeSet<i64> = segments.map(|segment| segment.record.id).collect();
        drop(view);
        let seen = self.nodes.followed.lock().segments;
        let mut followed = self.catalogue.follow(&known, seen).await?;
        let own = self.catalogue.node();
        self.refuse_sealed_elsewhere(&followed.nodes)?;
        let found = followed.nodes.iter().find(|node| Some(node.id) == own);
        *self.nodes.own_copy.lock() = found.and_then(|node| node.copy);
        followed.nodes.retain(|node| Some(node.id) != own);
        self.access.damaged.add(followed.damage);
        self.access.damaged.forget(&followed.gone);
        let new = self.segments(followed.new);
        let nodes = Arc::new(followed.nodes);
        self.view
            .follow(&followed.gone, new, nodes, &followed.deleted);
        *self.nodes.followed.lock() = LastRead {
            segments: followed.segments,
            at: Some(began),
        };
        Ok(())
    }

    /// Fails if another node has sealed requests of this node's log, because this one was given up as lost: they would be visible twice.
    fn refuse_sealed_elsewhere(&self, nodes: &[NodeRecord]) -> Result<()> {
        let own = self.catalogue.node();
        let own = nodes.iter().find(|node| Some(node.id) == own);
        let first = first_sequence(&self.view.get());
        match (own, first) {
            (Some(own), Some(first)) if first <= own.log_position => Err(StoreError::Node {
                name: own.name.clone(),
                what: "was forgotten, and another node has sealed the copy of its log; it goes on once it is started again".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Begins to take telemetry, once other nodes can read it here. The nodes that run queries learn of it before the first item is
    /// acknowledged. A store that shares no catalogue, or runs alone, does this when it is opened.
    ///
    /// # Errors
    /// The catalogue cannot be changed or read; no telemetry is taken.
    pub async fn join(&self) -> Result<()> {
        let holds_rows = self.view.sizes().bytes > 0;
        let has_log = self.config.node.role.ingests() || holds_rows;
        if has_log && self.catalogue.set_drained(false).await? && self.is_shared() {
            self.follow().await?;
            let others = self.other_nodes();
            if others.iter().any(NodeRecord::is_live) {
                tokio::time::sleep(self.config.node_wait).await;
            }
        }
        if !self.config.copies_log() && self.is_shared() {
            // A copy of an earlier process, which made one, misses what this one takes.
            self.catalogue.drop_copy().await?;
        }
        self.nodes.joined.store(true, Ordering::Release);
        Ok(())
    }

    /// Refuses telemetry before [`Store::join`].
    pub(crate) fn check_joined(&self) -> Result<()> {
        if self.nodes.joined.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(StoreError::Joining)
    }

    /// Notes that the log of this node holds no item that no segment has.
    pub(crate) async fn end_log(&self) -> Result<()> {
        if self.catalogue.node().is_none() || self.view.sizes().bytes > 0 {
            return Ok(());
        }
        self.catalogue.set_drained(true).await.map(drop)
    }

    /// Reports to the catalogue that this node is alive.
    pub(crate) async fn beat(&self) -> Result<()> {
        self.catalogue.beat(self.view.get().sequence).await
    }
}
