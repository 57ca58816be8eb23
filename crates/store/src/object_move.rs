//! Moving the segments of a data folder to an object store and back.
//!
//! The file `format` says where the segments are, and is written when all of them are at the new place: a move that is interrupted leaves
//! the store as it was, and is repeated.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blocking::blocking;
use crate::catalogue::{Catalogue, CataloguePlace, SegmentRecord};
use crate::check::Progress;
use crate::clock::Clock;
use crate::error::{Result, StoreError};
use crate::expired::{self, Places};
use crate::folder::Folder;
use crate::format_file;
use crate::node::{NodeConfig, NodeRole};
use crate::object_recovery::FolderParts;
use crate::objects::{ObjectStorage, SegmentObjects, adopt, compare};
use crate::quarantine;
use crate::segment::move_file;
use crate::store_id::StoreId;
use crate::vfs::{self, RealFs, Vfs};

/// The catalogue has several nodes.
const NOT_WITH_NODES: StoreError = StoreError::NotWithNodes {
    what: "A move of segments",
};

/// What was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MovedSegments {
    /// Segments, expired ones included.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A move of the segments of a data folder, which no process may hold.
#[derive(Clone)]
pub struct SegmentMove {
    /// The data folder.
    pub root: PathBuf,
    /// Its catalogue.
    pub catalogue: CataloguePlace,
    /// The object store.
    pub storage: Arc<dyn ObjectStorage>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What shows how far the move is.
    pub progress: Arc<dyn Progress>,
}

impl SegmentMove {
    /// Copies the segments to the object store. The files become the cache. If they are in the object store already, the files that an
    /// interrupted move left become the cache.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if a server holds the folder, [`StoreError::Foreign`] if the object store is that of another store,
    /// [`StoreError::Damaged`] and [`StoreError::Io`] if a file is damaged or missing, [`StoreError::Object`].
    pub async fn to_objects(self) -> Result<MovedSegments> {
        let (work, catalogue) = Work::begin(self).await?;
        let (_work, moved) = work.run(Work::copy_to_objects).await?;
        share(&catalogue, true).await?;
        catalogue.close().await;
        Ok(moved)
    }

    /// Copies the segments from the object store into the folder. The objects stay.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if a server holds the folder, [`StoreError::Foreign`] if the object store is that of another store or the
    /// segments are in the folder, [`StoreError::Damaged`] if an object is damaged, [`StoreError::Object`].
    pub async fn from_objects(self) -> Result<MovedSegments> {
        let (work, catalogue) = Work::begin(self).await?;
        let (work, moved) = work.run(Work::copy_to_folder).await?;
        // Before the folder says so: no other node may join from now on.
        share(&catalogue, false).await?;
        work.run(Work::leave_objects).await?;
        catalogue.close().await;
        Ok(moved)
    }
}

/// Notes in a catalogue of PostgreSQL whether other nodes reach the segments.
async fn share(catalogue: &Catalogue, shared: bool) -> Result<()> {
    if catalogue.set_shared(shared).await? {
        return Ok(());
    }
    Err(NOT_WITH_NODES)
}

/// A move that was begun. It holds the lock of the folder.
struct Work {
    _folder: Folder,
    parts: FolderParts,
    places: Places,
    store: StoreId,
    records: Vec<SegmentRecord>,
    storage: Arc<dyn ObjectStorage>,
    objects: SegmentObjects,
    progress: Arc<dyn Progress>,
}

impl Work {
    async fn begin(of: SegmentMove) -> Result<(Work, Catalogue)> {
        let SegmentMove {
            root,
            catalogue,
            storage,
            clock,
            progress,
        } = of;
        let kind = catalogue.kind();
        let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
        let taken = vfs.clone();
        let folder = blocking(move || Folder::take(taken, &root, false, kind)).await?;
        // A move takes no telemetry.
        let node = NodeConfig {
            role: NodeRole::Maintain,
            ..NodeConfig::default()
        };
        let now = clock.now_ticks();
        let format = format_file::read(folder.vfs(), folder.root())?;
        let has_objects = format.is_some_and(|format| format.has_objects);
        let shared = has_objects && matches!(catalogue, CataloguePlace::Postgres(_));
        let own = catalogue.own(&folder, &node, shared, now);
        let (catalogue, store) = own.await?;
        if !catalogue.has_one_folder().await? {
            return Err(NOT_WITH_NODES);
        }
        let records = catalogue.all_segments().await?;
        let parts = FolderParts::of(&folder);
        let work = Work {
            places: Places::of(vfs.clone(), &parts.root),
            objects: SegmentObjects::without_cache(storage.clone(), store, vfs, clock),
            _folder: folder,
            parts,
            store,
            records,
            storage,
            progress,
        };
        Ok((work, catalogue))
    }

    /// Does a part of the move on a thread for blocking work.
    async fn run<T: Send + 'static>(self, part: fn(&Work) -> Result<T>) -> Result<(Work, T)> {
        blocking(move || part(&self).map(|done| (self, done))).await
    }

    fn has_objects(&self) -> Result<bool> {
        let format = format_file::read(&*self.parts.vfs, &self.parts.root)?;
        Ok(format.is_some_and(|format| format.has_objects))
    }

    fn copy_to_objects(&self) -> Result<MovedSegments> {
        let mut moved = MovedSegments::default();
        if self.has_objects()? {
            compare(&*self.storage, self.store)?;
        } else {
            adopt(&*self.storage, self.store)?;
            moved = self.each(|record| {
                let file = self.places.location(record)?;
                self.objects.upload_file(record, &file)
            })?;
            format_file::set_objects(&*self.parts.vfs, &self.parts.root, true)?;
        }
        // The next opening removes what does not fit the cache, or is not listed.
        let expired = expired::folder(&self.parts.root);
        for folder in [&self.parts.segments, &expired] {
            self.move_files(folder, &self.parts.cache)?;
        }
        Ok(moved)
    }

    fn copy_to_folder(&self) -> Result<MovedSegments> {
        if !self.has_objects()? {
            return Err(StoreError::Foreign {
                catalogue: format!("the object store {}", self.storage.address()),
                what: "the segments are in the folder".to_owned(),
            });
        }
        compare(&*self.storage, self.store)?;
        let expired = expired::folder(&self.parts.root);
        let moved = self.each(|record| {
            let folder = match record.expired {
                Some(_) => &expired,
                None => &self.parts.segments,
            };
            self.objects
                .download_durably(record, &folder.join(&record.path))
        })?;
        Ok(moved)
    }

    /// Notes that the segments are in the folder, and removes the cache.
    fn leave_objects(&self) -> Result<()> {
        format_file::set_objects(&*self.parts.vfs, &self.parts.root, false)?;
        for file in files_below(&*self.parts.vfs, &self.parts.cache)? {
            self.parts
                .vfs
                .remove(&file)
                .map_err(StoreError::io("remove", &file))?;
        }
        Ok(())
    }

    fn each(&self, copy: impl Fn(&SegmentRecord) -> Result<()>) -> Result<MovedSegments> {
        let mut moved = MovedSegments::default();
        self.progress
            .begin(self.records.iter().map(|record| record.bytes).sum());
        for record in &self.records {
            copy(record)?;
            moved.segments += 1;
            moved.bytes += record.bytes;
            self.progress.advance(record.bytes);
        }
        Ok(moved)
    }

    fn move_files(&self, from: &Path, to: &Path) -> Result<()> {
        let vfs = &*self.parts.vfs;
        for file in files_below(vfs, from)? {
            let below = file.strip_prefix(from).unwrap_or(&file);
            move_file(vfs, &file, &to.join(below)).map_err(StoreError::io("move", &file))?;
        }
        Ok(())
    }
}

fn files_below(vfs: &dyn Vfs, folder: &Path) -> Result<Vec<PathBuf>> {
    if !vfs::exists(vfs, folder).map_err(StoreError::io("read", folder))? {
        return Ok(Vec::new());
    }
    quarantine::files_below(vfs, folder, quarantine::DEPTH)
}
