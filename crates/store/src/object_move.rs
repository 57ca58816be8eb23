//! Moving the segments of a data folder to an object store and back.
//!
//! The file `format` says where the segments are, and is written when all of them are at the new place: a move that is interrupted leaves
//! the store as it was, and is repeated.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blocking::blocking;
use crate::catalogue::{CataloguePlace, SegmentRecord};
use crate::check::Progress;
use crate::clock::Clock;
use crate::error::{Result, StoreError};
use crate::expired::{self, Places};
use crate::folder::Folder;
use crate::format_file;
use crate::node::NodeConfig;
use crate::object_recovery::FolderParts;
use crate::objects::{ObjectStorage, SegmentObjects, adopt, compare};
use crate::quarantine;
use crate::segment::move_file;
use crate::store_id::StoreId;
use crate::vfs::{self, RealFs, Vfs};

/// What was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MovedSegments {
    /// Segments, expired ones included.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Copies the segments of a data folder, which no process may hold, to an object store. The files become the cache. If they are in the
/// object store already, the files that an interrupted move left become the cache.
///
/// # Errors
/// [`StoreError::Locked`] if a server holds the folder, [`StoreError::Foreign`] if the object store is that of another store,
/// [`StoreError::Damaged`] and [`StoreError::Io`] if a file is damaged or missing, [`StoreError::Object`].
pub async fn move_segments_to_objects(
    root: &Path,
    catalogue: &CataloguePlace,
    storage: Arc<dyn ObjectStorage>,
    clock: Arc<dyn Clock>,
    progress: Arc<dyn Progress>,
) -> Result<MovedSegments> {
    let work = Work::begin(root, catalogue, storage, clock, progress).await?;
    blocking(move || work.copy_to_objects()).await
}

/// Copies the segments of a data folder, which no process may hold, from an object store into the folder. The objects stay.
///
/// # Errors
/// [`StoreError::Locked`] if a server holds the folder, [`StoreError::Foreign`] if the object store is that of another store or the
/// segments are in the folder, [`StoreError::Damaged`] if an object is damaged, [`StoreError::Object`].
pub async fn move_segments_from_objects(
    root: &Path,
    catalogue: &CataloguePlace,
    storage: Arc<dyn ObjectStorage>,
    clock: Arc<dyn Clock>,
    progress: Arc<dyn Progress>,
) -> Result<MovedSegments> {
    let work = Work::begin(root, catalogue, storage, clock, progress).await?;
    blocking(move || work.copy_to_folder()).await
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
    async fn begin(
        root: &Path,
        catalogue: &CataloguePlace,
        storage: Arc<dyn ObjectStorage>,
        clock: Arc<dyn Clock>,
        progress: Arc<dyn Progress>,
    ) -> Result<Work> {
        let (root, kind) = (root.to_owned(), catalogue.kind());
        let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
        let taken = vfs.clone();
        let folder = blocking(move || Folder::take(taken, &root, false, kind)).await?;
        let (node, now) = (NodeConfig::default(), clock.now_ticks());
        let own = catalogue.own(&folder, &node, false, now);
        let (catalogue, store) = own.await?;
        let records = catalogue.all_segments().await?;
        catalogue.close().await;
        let parts = FolderParts::of(&folder);
        Ok(Work {
            places: Places::of(vfs.clone(), &parts.root),
            objects: SegmentObjects::without_cache(storage.clone(), store, vfs, clock),
            _folder: folder,
            parts,
            store,
            records,
            storage,
            progress,
        })
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
        format_file::set_objects(&*self.parts.vfs, &self.parts.root, false)?;
        for file in files_below(&*self.parts.vfs, &self.parts.cache)? {
            self.parts
                .vfs
                .remove(&file)
                .map_err(StoreError::io("remove", &file))?;
        }
        Ok(moved)
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
