//! Opening after a clean end or a crash: the catalogue says what is data, the log adds what came after.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::batch::{Unknown, normalise};
use crate::blocking::blocking;
use crate::catalogue::{Catalogue, SegmentRecord};
use crate::error::{Result, StoreError};
use crate::folder::Folder;
use crate::log::{self, Appended, LogEnd, Payload};
use crate::quarantine::{self, Quarantine};
use crate::segment::{Segment, TEMPORARY};
use crate::vfs::Vfs;
use crate::view::ViewCell;

/// What recovery found.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// Where the log goes on.
    pub(crate) log_end: LogEnd,
    /// What lies in the quarantine.
    pub(crate) quarantine: Quarantine,
}

/// Fills the view from segments and log. Segments that the catalogue does not list are moved to the quarantine, and only
/// files that were never finished are removed (`D31`).
///
/// Whatever speaks against the catalogue, the log above all, is found before any file is moved.
pub(crate) async fn recover(
    folder: &Folder,
    catalogue: &Catalogue,
    view: &Arc<ViewCell>,
) -> Result<Recovered> {
    let records = catalogue.segments().await?;
    let position = catalogue.log_position().await?;
    let deleted = catalogue.deleted_apps(false).await?;
    let (segments_dir, log_dir, view) = (folder.segments_dir(), folder.log_dir(), view.clone());
    let vfs = folder.shared_vfs();
    let quarantine_dir = folder.quarantine_dir();
    blocking(move || {
        for app in deleted {
            view.drop_app(app);
        }
        let unlisted = unlisted(&*vfs, &segments_dir, &records)?;
        let segments = records
            .into_iter()
            .map(|record| existing(&vfs, &segments_dir, record))
            .collect::<Result<_>>()?;
        view.replace(&[], segments);
        refuse_lost_log(&*vfs, &log_dir, position, unlisted.len())?;
        let log_end = log::replay(&*vfs, &log_dir, position, |sequence, payload| {
            view.push(vec![appended(sequence, payload)?]);
            Ok(())
        })?;
        for file in unlisted {
            clear_away(&*vfs, &file, &segments_dir, &quarantine_dir)?;
        }
        log::remove_unfinished(&*vfs, &log_dir).map_err(StoreError::io("remove from", &log_dir))?;
        log::remove_through(&*vfs, &log_dir, position)
            .map_err(StoreError::io("remove from", &log_dir))?;
        Ok(Recovered {
            log_end,
            quarantine: quarantine::measure(&*vfs, &quarantine_dir)?,
        })
    })
    .await
}

fn appended(sequence: u64, payload: Payload) -> Result<Appended> {
    let mut batches = Vec::with_capacity(payload.batches.len());
    for (table, batch) in payload.batches {
        batches.push((table, normalise(table, &batch, Unknown::Drop)?));
    }
    Ok(Appended {
        sequence,
        app: payload.app,
        batches,
    })
}

/// A segment that the catalogue knows must be there, whole: answering without it would be a wrong answer.
fn existing(vfs: &Arc<dyn Vfs>, folder: &Path, record: SegmentRecord) -> Result<Arc<Segment>> {
    let segment = Segment::new(vfs.clone(), folder, record);
    let path = segment.path();
    match vfs.info(path) {
        Ok(Some(found)) if found.length == segment.record.bytes => Ok(Arc::new(segment)),
        Ok(Some(found)) => Err(StoreError::Damaged {
            path: path.to_owned(),
            offset: found.length.min(segment.record.bytes),
            what: format!(
                "it has {} bytes and the catalogue says {}",
                found.length, segment.record.bytes
            ),
        }),
        Ok(None) => Err(StoreError::Missing {
            path: path.to_owned(),
            what: "the catalogue lists it as data".to_owned(),
        }),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

/// The log's last file is never removed, so one that is gone took acknowledged items with it.
fn refuse_lost_log(vfs: &dyn Vfs, log_dir: &Path, position: u64, unlisted: usize) -> Result<()> {
    let files = log::files(vfs, log_dir).map_err(StoreError::io("list", log_dir))?;
    if !files.is_empty() || (position == 0 && unlisted == 0) {
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
