//! The copy of this node's log at another node, as the origin makes and extends it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::catalogue::{Catalogue, first_generation};
use crate::config::{Replicas, StoreConfig};
use crate::log::{LogRecords, Replica};
use crate::node::{NodeId, NodeRecord};
use crate::peers::{CopyRequest, NodeClient};
use crate::vfs::Vfs;

/// Longest time for the reply to a group of requests. Another node gets a copy then.
const REPLY: Duration = Duration::from_secs(2);
/// Longest time for the reply to a part of a new copy.
const PART: Duration = Duration::from_secs(5);
/// Longest time for the reply of the catalogue.
const CATALOGUE: Duration = Duration::from_secs(3);
/// How long requests are refused at once after no node has taken a copy.
const REFUSED: Duration = Duration::from_secs(1);

/// Makes the second copy of a node's log, if the settings say so.
pub(crate) fn replica(config: &StoreConfig, catalogue: &Catalogue) -> Option<Box<dyn Replica>> {
    if !config.copies_log() {
        return None;
    }
    Some(Box::new(OriginCopies {
        runtime: Handle::try_current().ok()?,
        catalogue: catalogue.clone(),
        client: config.node_client.clone()?,
        vfs: config.vfs.clone(),
        dir: config.data_dir.join("log"),
        node: catalogue.node()?,
        generation: first_generation(catalogue.node_epoch()?),
        may_be_alone: config.replicas == Replicas::Auto,
        is_alone: false,
        link: None,
        sent: None,
        avoided: None,
        withdrawn: None,
        refused: None,
    }))
}

#[derive(Debug)]
struct OriginCopies {
    runtime: Handle,
    catalogue: Catalogue,
    client: Arc<dyn NodeClient>,
    vfs: Arc<dyn Vfs>,
    /// The folder of the log.
    dir: PathBuf,
    node: NodeId,
    /// The last generation that was begun.
    generation: u64,
    /// Whether requests are acknowledged without a copy while no other node takes telemetry.
    may_be_alone: bool,
    /// Whether they are now: the catalogue names no copy.
    is_alone: bool,
    /// The copy that the catalogue names and that is extended.
    link: Option<Link>,
    /// What was sent and has no reply yet, and the sequence that it begins with.
    sent: Option<(u64, JoinHandle<crate::Result<u64>>)>,
    /// The node that failed last. It comes last in the search for another one.
    avoided: Option<NodeId>,
    /// The first record of a copy that was refused, of which the catalogue does not know yet.
    withdrawn: Option<u64>,
    /// When no node took a copy, and why.
    refused: Option<(Instant, String)>,
}

#[derive(Debug)]
struct Link {
    holder: NodeRecord,
    generation: u64,
}

impl Replica for OriginCopies {
    fn prepare(&mut self, next: u64) -> Result<(), String> {
        if self.link.is_some() || self.is_alone {
            return Ok(());
        }
        if let Some((since, reason)) = &self.refused
            && since.elapsed() < REFUSED
        {
            return Err(reason.clone());
        }
        self.begin(next)
    }

    fn send(&mut self, first: u64, records: Bytes) {
        let Some(link) = &self.link else {
            return;
        };
        let request = CopyRequest {
            origin: self.node,
            generation: link.generation,
            first,
            records,
        };
        let (client, holder) = (self.client.clone(), link.holder.clone());
        let copied = self.runtime.spawn(async move {
            let copied = timeout(REPLY, client.copy(&holder, request)).await;
            copied.unwrap_or_else(|_| Err(late(&holder, REPLY)))
        });
        self.sent = Some((first, copied));
    }

    fn wait(&mut self, next: u64) -> Result<(), String> {
        if self.is_alone {
            return Ok(());
        }
        let Some((first, copied)) = self.sent.take() else {
            return Err("nothing was sent".to_owned());
        };
        let reason = match self.runtime.block_on(copied) {
            Ok(Ok(last)) if last.saturating_add(1) == next => return Ok(()),
            Ok(Ok(last)) => format!("a copy ends with record {last}"),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        self.avoided = self.link.take().map(|link| link.holder.id);
        tracing::warn!(
            reason,
            "the second copy of the log ends; another node gets one"
        );
        let begun = self.begin(next);
        if begun.is_err() {
            self.withdraw(first);
        }
        begun
    }

    fn replace(&mut self, next: u64) -> Result<(), String> {
        if let Some(link) = self.link.take() {
            self.avoided = Some(link.holder.id);
        }
        // If it fails, the catalogue may name a copy all the same, so the last one is not extended any more.
        self.begin(next)
    }

    fn withdraw(&mut self, first: u64) {
        if let Some((_, copied)) = self.sent.take() {
            copied.abort();
        }
        if self.is_alone {
            return;
        }
        self.link = None;
        self.withdrawn = Some(first);
        self.runtime.clone().block_on(self.end_copy());
    }
}

impl OriginCopies {
    /// Makes a copy at another node.
    fn begin(&mut self, next: u64) -> Result<(), String> {
        let begun = self.runtime.clone().block_on(self.begin_anywhere(next));
        self.refused = match &begun {
            Ok(()) => None,
            Err(reason) => Some((Instant::now(), reason.clone())),
        };
        begun
    }

    async fn begin_anywhere(&mut self, next: u64) -> Result<(), String> {
        self.is_alone = false;
        self.end_copy().await;
        let nodes = self.catalogue_replies(self.catalogue.nodes()).await?;
        let candidates = self.candidates(nodes);
        if candidates.is_empty() && self.may_be_alone {
            return self.begin_alone().await;
        }
        let mut reasons = Vec::new();
        for holder in candidates {
            match self.begin_at(&holder, next).await {
                Ok(generation) => {
                    tracing::info!(holder = %holder.name, generation, "another node has a copy of the log");
                    self.link = Some(Link { holder, generation });
                    self.withdrawn = None;
                    return Ok(());
                }
                Err(reason) => reasons.push(reason),
            }
        }
        if reasons.is_empty() {
            return Err("no other node that takes telemetry runs".to_owned());
        }
        Err(reasons.join("; "))
    }

    /// Goes on without a copy.
    async fn begin_alone(&mut self) -> Result<(), String> {
        let dropped = self.catalogue.drop_copy();
        self.catalogue_replies(dropped).await?;
        // The catalogue has counted that there is none.
        self.generation += 1;
        self.is_alone = true;
        self.withdrawn = None;
        tracing::warn!("no other node that takes telemetry runs, so the log has no second copy");
        Ok(())
    }

    /// The nodes that may have a copy, in the order of a rendezvous hash: each origin has its own, and another node changes it little.
    fn candidates(&self, mut nodes: Vec<NodeRecord>) -> Vec<NodeRecord> {
        nodes.retain(|node| node.id != self.node && may_hold(node));
        nodes.sort_by_cached_key(|node| {
            let pair = format!("{} {}", self.node, node.id);
            (
                Some(node.id) == self.avoided,
                crc32c::crc32c(pair.as_bytes()),
            )
        });
        nodes
    }

    /// Makes a copy at a node, and names it in the catalogue.
    async fn begin_at(&mut self, holder: &NodeRecord, next: u64) -> Result<u64, String> {
        loop {
            let position = self
                .catalogue_replies(self.catalogue.log_position())
                .await?;
            self.generation += 1;
            let generation = self.generation;
            if let Err(reason) = self.send_all(holder, generation, position, next).await {
                // A seal may have removed files of the log meanwhile.
                let now = self
                    .catalogue_replies(self.catalogue.log_position())
                    .await?;
                if now > position {
                    continue;
                }
                return Err(reason);
            }
            let named = self.catalogue.name_copy(holder.id, generation);
            self.catalogue_replies(named).await?;
            return Ok(generation);
        }
    }

    /// Sends the records after `position` and before `next`.
    async fn send_all(
        &self,
        holder: &NodeRecord,
        generation: u64,
        position: u64,
        next: u64,
    ) -> Result<(), String> {
        let copy = async |first: u64, records: Bytes| {
            let request = CopyRequest {
                origin: self.node,
                generation,
                first,
                records,
            };
            let copied = timeout(PART, self.client.copy(holder, request)).await;
            let copied = copied.unwrap_or_else(|_| Err(late(holder, PART)));
            copied.map_err(|error| error.to_string())
        };
        let mut last = copy(position + 1, Bytes::new()).await?;
        let records = LogRecords::after(&*self.vfs, &self.dir, position, next);
        let mut records = records.map_err(|error| error.to_string())?;
        // On the thread of the log's writer, so reading a file keeps no other task waiting.
        while let Some(parts) = records
            .next_file(&*self.vfs)
            .map_err(|error| error.to_string())?
        {
            for (first, part) in parts {
                last = copy(first, part).await?;
            }
        }
        if last.saturating_add(1) != next {
            return Err(format!(
                "the copy at the node {} ends with record {last}",
                holder.name
            ));
        }
        Ok(())
    }

    /// Notes in the catalogue that records are refused which a copy may have.
    async fn end_copy(&mut self) {
        let Some(first) = self.withdrawn else {
            return;
        };
        let ended = self.catalogue.end_copy(first.saturating_sub(1));
        match self.catalogue_replies(ended).await {
            Ok(()) => self.withdrawn = None,
            Err(error) => tracing::warn!(
                error,
                "the catalogue does not know that requests were refused which another node may have"
            ),
        }
    }

    async fn catalogue_replies<T>(
        &self,
        work: impl Future<Output = crate::Result<T>>,
    ) -> Result<T, String> {
        match timeout(CATALOGUE, work).await {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(_) => Err(format!(
                "the catalogue has not replied for {} s",
                CATALOGUE.as_secs()
            )),
        }
    }
}

/// Whether a node may have the copy of another one's log.
pub(super) fn may_hold(node: &NodeRecord) -> bool {
    node.is_live() && node.role.ingests() && !node.address.is_empty()
}

fn late(holder: &NodeRecord, after: Duration) -> crate::StoreError {
    crate::StoreError::Node {
        name: holder.name.clone(),
        what: format!("has not replied for {} s", after.as_secs()),
    }
}
