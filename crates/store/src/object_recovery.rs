//! Opening a data folder whose segments are in an object store.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::catalogue::SegmentRecord;
use crate::clock::Clock;
use crate::config::ObjectsConfig;
use crate::error::{Result, StoreError};
use crate::examined::{Examined, refuse_replaced};
use crate::expired;
use crate::folder::Folder;
use crate::format_file;
use crate::objects::{SegmentObjects, adopt, compare};
use crate::quarantine;
use crate::segment::{Description, Segment, length_differs, read_footer};
use crate::store_id::StoreId;
use crate::vfs::{self, Vfs};

/// The object store that the settings name, if they name one.
#[derive(Debug, Clone)]
pub(crate) struct ObjectsPlace {
    pub(crate) config: Option<ObjectsConfig>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl ObjectsPlace {
    /// The objects of a data folder whose catalogue lists `records`; `None` if its segments are in the folder. Blocks.
    ///
    /// # Errors
    /// [`StoreError::SegmentsElsewhere`] and [`StoreError::SegmentsInFolder`] if the segments are not where the settings say,
    /// [`StoreError::Foreign`] if the object store is of another store.
    pub(crate) fn open(
        &self,
        folder: &FolderParts,
        store: StoreId,
        records: &[SegmentRecord],
    ) -> Result<Option<Arc<SegmentObjects>>> {
        let (vfs, root) = (&folder.vfs, folder.root.as_path());
        let format = format_file::read(&**vfs, root)?;
        let has_objects = format.is_some_and(|format| format.has_objects);
        let Some(config) = &self.config else {
            return if has_objects {
                Err(StoreError::SegmentsElsewhere {
                    path: root.to_owned(),
                })
            } else {
                Ok(None)
            };
        };
        let storage = &*config.storage;
        if has_objects {
            match compare(storage, store) {
                Err(error) if error.is_object_unavailable() => {
                    tracing::warn!(%error, "the object store is unavailable; the store opens without a look at it")
                }
                compared => compared?,
            }
        } else {
            folder.refuse_segments(storage.address())?;
            if records.is_empty() {
                adopt(storage, store)?;
            } else {
                compare(storage, store)?;
            }
            format_file::set_objects(&**vfs, root, true)?;
        }
        let (clock, cache) = (self.clock.clone(), &folder.cache);
        let objects = SegmentObjects::open(config, store, vfs.clone(), clock, cache, records)?;
        Ok(Some(Arc::new(objects)))
    }
}

/// The parts of a data folder that an object store takes the place of.
#[derive(Debug, Clone)]
pub(crate) struct FolderParts {
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) root: std::path::PathBuf,
    pub(crate) segments: std::path::PathBuf,
    pub(crate) cache: std::path::PathBuf,
}

impl FolderParts {
    /// The parts of a folder.
    pub(crate) fn of(folder: &Folder) -> FolderParts {
        FolderParts {
            vfs: folder.shared_vfs(),
            root: folder.root().to_owned(),
            segments: folder.segments_dir(),
            cache: folder.cache_dir(),
        }
    }

    /// Fails if there are segments in the folder.
    fn refuse_segments(&self, objects: &str) -> Result<()> {
        let has_files = |dir: &Path| -> Result<bool> {
            let exists = vfs::exists(&*self.vfs, dir).map_err(StoreError::io("read", dir))?;
            Ok(exists && !quarantine::files_below(&*self.vfs, dir, quarantine::DEPTH)?.is_empty())
        };
        if has_files(&self.segments)? || has_files(&expired::folder(&self.root))? {
            return Err(StoreError::SegmentsInFolder {
                path: self.root.clone(),
                objects: objects.to_owned(),
            });
        }
        Ok(())
    }
}

/// Compares the objects with what the catalogue says. An object that is missing or has another size is damaged; one that is marked as damaged
/// is read whole. While the object store is unavailable, the marks of the catalogue hold. Blocks.
///
/// # Errors
/// [`StoreError::Foreign`] if the catalogue is older than a merge.
pub(crate) fn examine(
    objects: &SegmentObjects,
    folder: &FolderParts,
    (catalogue, store): (&str, StoreId),
    segments: &[Arc<Segment>],
    records: &[SegmentRecord],
) -> Result<Examined> {
    let mut examined = Examined::default();
    let listed = match objects.list() {
        Err(error) if error.is_object_unavailable() => {
            tracing::warn!(%error, "the objects of segments are not compared with the catalogue");
            let marked = segments.iter().map(|segment| &segment.record);
            let marked = marked.filter_map(|record| Some((record.id, record.damage.clone()?)));
            examined.damage.extend(marked);
            return Ok(examined);
        }
        listed => listed?,
    };
    let sizes: HashMap<&str, u64> = listed
        .iter()
        .map(|object| (object.key.as_str(), object.bytes))
        .collect();
    let mut missing = Vec::new();
    for segment in segments {
        let record = &segment.record;
        let name = objects.name_of(&record.path);
        let found = match (sizes.get(record.path.as_str()), &record.damage) {
            (None, _) => {
                missing.push((&**segment, name.clone()));
                Some("missing".to_owned())
            }
            (Some(_), Some(mark)) => match objects.damage_of(record) {
                Err(error) if error.is_object_unavailable() => Some(mark.clone()),
                found => found?,
            },
            (Some(bytes), None) if *bytes == record.bytes => None,
            (Some(bytes), None) => Some(length_differs(*bytes, record.bytes)),
        };
        examined.add(segment, &name, found);
    }
    if !missing.is_empty() {
        let known: HashSet<&str> = records.iter().map(|record| record.path.as_str()).collect();
        let unlisted = listed.iter().map(|object| object.key.as_str());
        for path in unlisted.filter(|path| !known.contains(path)) {
            if !missing.iter().any(|(segment, _)| is_beside(path, segment)) {
                continue;
            }
            // An object that does not read is no proof.
            let Some(found) = description_of(objects, folder, path) else {
                continue;
            };
            let file = objects.name_of(path);
            refuse_replaced(catalogue, store, missing.clone(), &file, &found)?;
        }
    }
    Ok(examined)
}

/// Whether an object is of the same application and table as a segment.
fn is_beside(path: &str, segment: &Segment) -> bool {
    let table = |path: &str| path.rsplit_once('/').map(|(table, _)| table.to_owned());
    table(path) == table(&segment.record.path)
}

/// What the footer of an object says.
fn description_of(
    objects: &SegmentObjects,
    folder: &FolderParts,
    path: &str,
) -> Option<Description> {
    let file = folder.cache.join("unlisted.tmp");
    objects.copy_to(path, &file).ok()?;
    let footer = read_footer(&*folder.vfs, &file);
    let _ = folder.vfs.remove(&file);
    Description::of(&footer.ok()?).ok()
}
