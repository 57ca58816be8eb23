//! Opening after a clean end or a crash: the catalogue says what is data, the log adds what came after.

use crate::batch::{Unknown, normalise};
use crate::blocking::blocking;
use crate::catalogue::{Catalogue, SegmentRecord};
use crate::error::{Result, StoreError};
use crate::folder::Folder;
use crate::log::{self, Appended, Payload};
use crate::segment::Segment;
use crate::view::ViewCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What recovery found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recovered {
    /// The last sequence in segments or log.
    pub(crate) last: u64,
}

/// Fills the view from segments and log, and removes what a crash left half-done.
pub(crate) async fn recover(
    folder: &Folder,
    catalogue: &Catalogue,
    view: &Arc<ViewCell>,
) -> Result<Recovered> {
    let records = catalogue.segments().await?;
    let position = catalogue.log_position().await?;
    let deleted = catalogue.deleted_apps(false).await?;
    let (segments_dir, log_dir, view) = (folder.segments_dir(), folder.log_dir(), view.clone());
    blocking(move || {
        for app in deleted {
            view.drop_app(app);
        }
        remove_orphans(&segments_dir, &records)?;
        let segments = records
            .into_iter()
            .map(|record| existing(&segments_dir, record))
            .collect::<Result<_>>()?;
        view.replace(&[], segments);
        let last = log::replay(&log_dir, position, |sequence, payload| {
            view.push(vec![appended(sequence, payload)?]);
            Ok(())
        })?;
        log::remove_through(&log_dir, position).map_err(StoreError::io("remove from", &log_dir))?;
        Ok(Recovered { last })
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
fn existing(folder: &Path, record: SegmentRecord) -> Result<Arc<Segment>> {
    let segment = Segment::new(folder, record);
    let path = segment.path();
    match std::fs::metadata(path) {
        Ok(found) if found.len() == segment.record.bytes => Ok(Arc::new(segment)),
        Ok(found) => Err(StoreError::Damaged {
            path: path.to_owned(),
            offset: found.len().min(segment.record.bytes),
            what: format!(
                "it has {} bytes and the catalogue says {}",
                found.len(),
                segment.record.bytes
            ),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(StoreError::Missing {
            path: path.to_owned(),
            what: "the catalogue lists it as data".to_owned(),
        }),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

/// Removes files that no transaction made data: a seal or merge was interrupted, or a merged file was still read.
fn remove_orphans(folder: &Path, records: &[SegmentRecord]) -> Result<()> {
    let known: HashSet<PathBuf> = records
        .iter()
        .map(|record| folder.join(&record.path))
        .collect();
    for path in files_below(folder, 2)? {
        let ours = path
            .extension()
            .is_some_and(|end| end == "parquet" || end == "tmp");
        if ours && !known.contains(&path) {
            tracing::info!(file = %path.display(), "removing a file that an interrupted seal or merge left");
            std::fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    Ok(())
}

fn files_below(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(StoreError::io("list", folder))? {
        let entry = entry.map_err(StoreError::io("list", folder))?;
        let kind = entry.file_type().map_err(StoreError::io("list", folder))?;
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth > 0 {
            files.extend(files_below(&entry.path(), depth - 1)?);
        }
    }
    Ok(files)
}
