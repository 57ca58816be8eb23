//! What a holder does with copies: it extends and removes them, and seals that of an origin that is lost.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::blocking::blocking;
use crate::catalogue::{CopyRecord, SegmentRecord};
use crate::copies::held::{CopiesFolder, CopyFolder};
use crate::copies::memory::{CopyMemory, bytes_of};
use crate::error::{Result, StoreError};
use crate::log;
use crate::node::NodeId;
use crate::peers::CopyRequest;
use crate::recovery::appended;
use crate::seal;
use crate::segment::SegmentSettings;
use crate::store::Store;
use crate::usage::Usage;
use crate::vfs::Vfs;
use crate::view::ViewCell;

/// What was made of a copy.
struct SealedCopy {
    records: Vec<SegmentRecord>,
    usage: Usage,
    /// The last record.
    last: u64,
}

/// How a copy is sealed.
struct Sealing {
    settings: SegmentSettings,
    now: i64,
    /// Bytes of rows from which on segments are written.
    bytes: usize,
    /// They count against `store.memory`, beside the memtable.
    memory: Arc<CopyMemory>,
    hot: Arc<ViewCell>,
    limit: usize,
}

impl Store {
    /// Begins or extends the copy of another node's log, and returns its last sequence, once it is durable.
    ///
    /// # Errors
    /// [`StoreError::Node`] if this node has no copies; [`StoreError::Missing`] if it does not have this one, or has closed it; failures of the
    /// disk. The other node begins another copy then.
    pub async fn hold_copy(&self, request: CopyRequest) -> Result<u64> {
        if !self.is_shared() || !self.config.node.role.ingests() {
            return Err(StoreError::Node {
                name: self.config.node.name.clone(),
                what: "does not take telemetry, so it has no copies of logs".to_owned(),
            });
        }
        let (copies, folder) = (self.nodes.copies.clone(), CopiesFolder::of(&self.config));
        blocking(move || copies.take(&folder, &request)).await
    }

    /// Removes copies that are not needed any more, and seals those of lost nodes. The background task does this every second.
    ///
    /// # Errors
    /// The catalogue cannot be read, or a copy cannot be removed or sealed; the others are looked at all the same.
    pub async fn tend_copies(&self) -> Result<()> {
        if !self.nodes.copies.is_used() {
            return Ok(());
        }
        let (copies, folder) = (self.nodes.copies.clone(), CopiesFolder::of(&self.config));
        let (held, there) = (copies.clone(), folder.clone());
        // Before the catalogue is read: what it says is of a later moment than what was found.
        let found = blocking(move || held.list(&there)).await?;
        if found.is_empty() {
            return Ok(());
        }
        let known = self.catalogue.log_copies().await?;
        let known: HashMap<NodeId, CopyRecord> =
            known.into_iter().map(|copy| (copy.origin, copy)).collect();
        let mut done = Ok(());
        for copy in found {
            // A copy that the catalogue does not know yet may be named by its origin at any time.
            let Some(record) = known.get(&copy.origin) else {
                continue;
            };
            let tended = self.tend_copy(copy, record, &folder).await;
            done = done.and(tended);
        }
        done
    }

    async fn tend_copy(
        &self,
        copy: CopyFolder,
        record: &CopyRecord,
        folder: &CopiesFolder,
    ) -> Result<()> {
        if copy.generation > record.generation {
            return Ok(());
        }
        let is_named = copy.generation == record.generation
            && record.holder.is_some()
            && record.holder == self.catalogue.node();
        let (copies, folder, position) = (
            self.nodes.copies.clone(),
            folder.clone(),
            record.log_position,
        );
        if !is_named || record.drained {
            return blocking(move || {
                copies.close(&copy);
                folder.remove(&copy)
            })
            .await;
        }
        if record.is_lost {
            return self.seal_copy(copy, record).await;
        }
        blocking(move || {
            log::remove_through(&*folder.vfs, &copy.path, position)
                .map_err(StoreError::io("remove from", &copy.path))
        })
        .await
    }

    /// Writes the records of a copy that no segment has as segments, in the name of the origin, which is lost.
    async fn seal_copy(&self, copy: CopyFolder, record: &CopyRecord) -> Result<()> {
        let _one = self.changing.lock().await;
        let collections = self.catalogue.collections().await?;
        let sealing = Sealing {
            settings: self.segment_settings.clone(),
            now: self.config.clock.now_ticks(),
            bytes: self.config.hot_bytes,
            memory: self.nodes.read_copies.memory.clone(),
            hot: self.view.clone(),
            limit: self.config.hot_limit_bytes,
        };
        let (copies, vfs, of) = (self.nodes.copies.clone(), self.config.vfs.clone(), *record);
        let sealed = blocking(move || {
            // What arrives from now on was not acknowledged, and will not be.
            copies.close(&copy);
            sealing.seal(&*vfs, &copy.path, &of)
        });
        let SealedCopy {
            mut records,
            usage,
            last,
        } = sealed.await?;
        let registered = self
            .catalogue
            .register_recovered(record, last, &mut records, &usage, collections)
            .await;
        if let Err(error) = registered {
            let is_over = error.is_superseded() || !self.has_registered(&records).await?;
            if is_over {
                // The catalogue will never list these names.
                if let Some(objects) = &self.segment_settings.objects {
                    records.iter().for_each(|record| objects.retire(record));
                }
                return Err(error);
            }
        }
        tracing::info!(
            origin = %record.origin, requests = last - record.log_position, segments = records.len(),
            "the copy of a lost node's log is in segments"
        );
        self.follow().await
    }

    /// Whether a transaction took effect whose commit failed. Without segments it may be made again.
    async fn has_registered(&self, records: &[SegmentRecord]) -> Result<bool> {
        self.catalogue.settle().await?;
        match records.first() {
            Some(first) => self.catalogue.lists_segment(&first.path).await,
            None => Ok(false),
        }
    }
}

impl Sealing {
    fn seal(&self, vfs: &dyn Vfs, dir: &Path, copy: &CopyRecord) -> Result<SealedCopy> {
        let mut sealed = SealedCopy {
            records: Vec::new(),
            usage: Usage::default(),
            last: copy.log_position,
        };
        let written = self.write(vfs, dir, copy, &mut sealed);
        let published = written.and_then(|()| self.settings.publish(&sealed.records));
        if let Err(error) = published {
            self.settings.discard(&sealed.records);
            return Err(error);
        }
        Ok(sealed)
    }

    fn write(
        &self,
        vfs: &dyn Vfs,
        dir: &Path,
        copy: &CopyRecord,
        sealed: &mut SealedCopy,
    ) -> Result<()> {
        let files = log::files(vfs, dir).map_err(StoreError::io("list", dir))?;
        if files.is_empty() {
            return Err(StoreError::Missing {
                path: dir.to_owned(),
                what: "the copy of a lost node's log has no files".to_owned(),
            });
        }
        let (mut view, mut memory) = (ViewCell::default(), self.memory.reserve());
        log::replay(vfs, dir, copy.log_position, |sequence, payload| {
            if sequence > copy.ends {
                return Ok(());
            }
            let request = appended(sequence, payload)?;
            let bytes = bytes_of(&request);
            let most = self.limit.saturating_sub(self.hot.sizes().bytes);
            if view.sizes().bytes >= self.bytes || !memory.add(bytes, most) {
                self.write_rows(&std::mem::take(&mut view), sealed)?;
                // One request is taken in any case: the copy has to be sealed for its items to be read.
                memory = self.memory.reserve();
                memory.add(bytes, usize::MAX);
            }
            view.push(vec![request]);
            sealed.last = sequence;
            Ok(())
        })?;
        self.write_rows(&view, sealed)
    }

    fn write_rows(&self, view: &ViewCell, sealed: &mut SealedCopy) -> Result<()> {
        view.freeze_all();
        let rows: Arc<_> = view.get();
        let (records, usage) = (&mut sealed.records, &mut sealed.usage);
        seal::write_frozen(&self.settings, &rows, self.now, records, usage)
    }
}
