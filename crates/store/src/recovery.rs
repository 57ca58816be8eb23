//! Opening after a clean end or a crash: the catalogue says what is data, the log adds what came after.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::batch::{Origin, normalise};
use crate::blocking::blocking;
use crate::catalogue::{Catalogue, SegmentRecord, is_disk_full};
use crate::error::{Result, StoreError};
use crate::examined::{Examined, refuse_replaced};
use crate::expired::Places;
use crate::folder::Folder;
use crate::log::{self, Appended, LogEnd, Payload};
use crate::node::log_begin;
use crate::object_recovery::{self, FolderParts, ObjectsPlace};
use crate::objects::SegmentObjects;
use crate::quarantine::{self, Quarantine};
use crate::segment::{
    Damage, Description, Segment, TEMPORARY, damage_of, length_differs, read_footer,
};
use crate::store_id::StoreId;
use crate::vfs::{self, Vfs};
use crate::view::ViewCell;

/// What recovery found.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// Where the log goes on.
    pub(crate) log_end: LogEnd,
    /// What lies in the quarantine.
    pub(crate) quarantine: Quarantine,
    /// The segments that cannot be read.
    pub(crate) damage: Damage,
    /// The object store that segments are in, if they are not in the folder.
    pub(crate) objects: Option<Arc<SegmentObjects>>,
}

/// Fills the view from segments and log. Segments that the catalogue does not list are moved to the quarantine, and only
/// files that were never finished are removed (`D31`). Segments that are missing or damaged are marked (`D34`).
///
/// Whatever speaks against the catalogue, the log above all, is found before any file is moved.
pub(crate) async fn recover(
    folder: &Folder,
    catalogue: &Catalogue,
    store: StoreId,
    view: &Arc<ViewCell>,
    objects: ObjectsPlace,
) -> Result<Recovered> {
    let records = catalogue.all_segments().await?;
    let position = catalogue.log_position().await?;
    let deleted = catalogue.deleted_apps(false).await?;
    view.add_usage(&catalogue.usage().await?);
    let (root, view) = (folder.root().to_owned(), view.clone());
    let name = catalogue.name().to_owned();
    let segments_dir = folder.segments_dir();
    let log_dir = folder.log_dir();
    let vfs = folder.shared_vfs();
    let quarantine_dir = folder.quarantine_dir();
    let parts = FolderParts::of(folder);
    let (recovered, changes) = blocking(move || {
        for app in deleted {
            view.drop_app(app);
        }
        view.begin(position);
        let objects = objects.open(&parts, store, &records)?;
        let (segments_dir, unlisted) = match &objects {
            Some(_) => (parts.cache.clone(), Vec::new()),
            None => {
                let unlisted = unlisted(&*vfs, &segments_dir, &records)?;
                (segments_dir, unlisted)
            }
        };
        refuse_lost_log(&*vfs, &log_dir, position, unlisted.len())?;
        let places = Places::of(vfs.clone(), &root);
        let is_data = |record: &&SegmentRecord| record.expired.is_none();
        let segments: Vec<Arc<Segment>> = records
            .iter()
            .filter(is_data)
            .map(|record| {
                let segment = Segment::new(vfs.clone(), &segments_dir, record.clone());
                Arc::new(segment.in_objects(objects.clone()))
            })
            .collect();
        let Examined { damage, changes } = match &objects {
            Some(objects) => {
                object_recovery::examine(objects, &parts, (&name, store), &segments, &records)?
            }
            None => {
                let examined = examine(&*vfs, &segments, &places)?;
                refuse_stale_catalogue(&*vfs, &name, store, &segments, &places, &unlisted)?;
                examined
            }
        };
        view.replace(&[], segments);
        let log_end = log::replay(&*vfs, &log_dir, position, |sequence, payload| {
            view.push(vec![appended(sequence, payload)?]);
            Ok(())
        })?;
        if objects.is_none() {
            for record in &records {
                places.put_in_place(record)?;
            }
        }
        for file in unlisted {
            clear_away(&*vfs, &file, &segments_dir, &quarantine_dir)?;
        }
        log::remove_unfinished(&*vfs, &log_dir).map_err(StoreError::io("remove from", &log_dir))?;
        log::remove_through(&*vfs, &log_dir, position)
            .map_err(StoreError::io("remove from", &log_dir))?;
        let recovered = Recovered {
            log_end,
            quarantine: quarantine::measure(&*vfs, &quarantine_dir)?,
            damage,
            objects,
        };
        Ok((recovered, changes))
    })
    .await?;
    if !changes.is_empty() {
        match catalogue.set_damage(&changes).await {
            // The next opening finds it again.
            Err(error) if is_disk_full(&error) => {
                tracing::warn!("the disk is full: damaged segments are not marked in the catalogue")
            }
            marked => marked?,
        }
    }
    Ok(recovered)
}

/// The segments that cannot be read, and what of it the catalogue does not say. A file that is missing or has another size is damaged.
/// The whole file of a segment that is marked as damaged is read: it may have been restored.
fn examine(vfs: &dyn Vfs, segments: &[Arc<Segment>], places: &Places) -> Result<Examined> {
    let mut examined = Examined::default();
    for segment in segments {
        let record = &segment.record;
        let found = match &record.damage {
            Some(_) => damage_of(segment, &places.location(record)?, &|_| {})?,
            None => size_differs(vfs, segment, &places.location(record)?)?,
        };
        examined.add(segment, &segment.path().display().to_string(), found);
    }
    Ok(examined)
}

/// What is wrong with a file that is missing or has another size than the catalogue says.
fn size_differs(vfs: &dyn Vfs, segment: &Segment, path: &Path) -> Result<Option<String>> {
    let found = vfs.info(path).map_err(StoreError::io("read", path))?;
    let due = segment.record.bytes;
    Ok(match found {
        Some(found) if found.length == due => None,
        Some(found) => Some(length_differs(found.length, due)),
        None => Some("missing".to_owned()),
    })
}

/// Refuses a catalogue that misses segments in whose place there are others that it does not list: it is older than a merge.
fn refuse_stale_catalogue(
    vfs: &dyn Vfs,
    catalogue: &str,
    store: StoreId,
    segments: &[Arc<Segment>],
    places: &Places,
    unlisted: &[PathBuf],
) -> Result<()> {
    let mut gone = Vec::new();
    for segment in segments {
        let path = places.location(&segment.record)?;
        if !vfs::exists(vfs, &path).map_err(StoreError::io("read", &path))? {
            gone.push(segment);
        }
    }
    if gone.is_empty() {
        return Ok(());
    }
    for file in unlisted {
        // A file that does not read is no proof.
        let footer = read_footer(vfs, file).ok();
        let Some(found) = footer.and_then(|footer| Description::of(&footer).ok()) else {
            continue;
        };
        let missing = gone
            .iter()
            .map(|segment| (&***segment, segment.path().display().to_string()));
        refuse_replaced(
            catalogue,
            store,
            missing,
            &file.display().to_string(),
            &found,
        )?;
    }
    Ok(())
}

/// A request of the log, as the memtable takes it.
pub(crate) fn appended(sequence: u64, payload: Payload) -> Result<Appended> {
    let mut batches = Vec::with_capacity(payload.batches.len());
    for (table, batch) in payload.batches {
        batches.push((table, normalise(table, &batch, Origin::Log)?));
    }
    Ok(Appended {
        sequence,
        app: payload.app,
        batches,
    })
}

/// The log's last file is never removed, so one that is gone took acknowledged items with it.
fn refuse_lost_log(vfs: &dyn Vfs, log_dir: &Path, position: u64, unlisted: usize) -> Result<()> {
    let files = log::files(vfs, log_dir).map_err(StoreError::io("list", log_dir))?;
    if !files.is_empty() || (position == log_begin(position) && unlisted == 0) {
        return Ok(());
    }
    Err(StoreError::Missing {
        path: log_dir.to_owned(),
        what: "the log's files are gone, and its last one may hold items that no segment has; nothing was changed"
            .to_owned(),
    })
}

/// The files below the folder of segments that the catalogue does not list: a seal or merge was interrupted, a merged
/// file was still read, or the catalogue is not the one that it should be.
fn unlisted(vfs: &dyn Vfs, folder: &Path, records: &[SegmentRecord]) -> Result<Vec<PathBuf>> {
    let known: HashSet<PathBuf> = records
        .iter()
        .map(|record| folder.join(&record.path))
        .collect();
    let mut files = quarantine::files_below(vfs, folder, quarantine::DEPTH)?;
    files.retain(|file| !known.contains(file));
    Ok(files)
}

fn clear_away(vfs: &dyn Vfs, file: &Path, segments: &Path, quarantine: &Path) -> Result<()> {
    if file.extension().is_some_and(|end| end == TEMPORARY) {
        tracing::info!(file = %file.display(), "removing a file whose writing was interrupted");
        return vfs.remove(file).map_err(StoreError::io("remove", file));
    }
    let target = match quarantine::set_aside(vfs, file, segments, quarantine) {
        Ok(target) => target,
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::StorageFull => {
            // It is not served where it lies either, and the store must open on a full disk.
            tracing::warn!(file = %file.display(), "the catalogue does not list a file, and the disk is full");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    tracing::warn!(
        file = %target.display(),
        "moved a file that the catalogue does not list to the quarantine; its items are not served"
    );
    Ok(())
}
