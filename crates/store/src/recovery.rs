//! Opening after a clean end or a crash: the catalogue says what is data, the log adds what came after.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::batch::{Unknown, normalise};
use crate::blocking::blocking;
use crate::catalogue::{Catalogue, SegmentRecord};
use crate::error::{Result, StoreError};
use crate::expired;
use crate::folder::{self, Folder};
use crate::log::{self, Appended, Payload};
use crate::quarantine::{self, Quarantine};
use crate::segment::{
    Damage, Description, Segment, TEMPORARY, damage_of, length_differs, read_footer,
};
use crate::store_id::StoreId;
use crate::view::ViewCell;

/// What recovery found.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// The last sequence in segments or log.
    pub(crate) last: u64,
    /// What lies in the quarantine.
    pub(crate) quarantine: Quarantine,
    /// The segments that cannot be read.
    pub(crate) damage: Damage,
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
) -> Result<Recovered> {
    let records = catalogue.all_segments().await?;
    let position = catalogue.log_position().await?;
    let deleted = catalogue.deleted_apps(false).await?;
    let (root, view) = (folder.root().to_owned(), view.clone());
    let (segments_dir, log_dir) = (folder.segments_dir(), folder.log_dir());
    let quarantine_dir = folder.quarantine_dir();
    let (recovered, changes) = blocking(move || {
        for app in deleted {
            view.drop_app(app);
        }
        let unlisted = unlisted(&segments_dir, &records)?;
        refuse_lost_log(&log_dir, position, unlisted.len())?;
        let expired_dir = expired::folder(&root);
        let is_data = |record: &&SegmentRecord| record.expired.is_none();
        let segments: Vec<Arc<Segment>> = records
            .iter()
            .filter(is_data)
            .map(|record| Arc::new(Segment::new(&segments_dir, record.clone())))
            .collect();
        let place =
            |segment: &Segment| expired::location(&segments_dir, &expired_dir, &segment.record);
        let (damage, changes) = examine(&segments, &place)?;
        refuse_stale_catalogue(&root, store, &segments, &place, &unlisted)?;
        view.replace(&[], segments);
        let last = log::replay(&log_dir, position, |sequence, payload| {
            view.push(vec![appended(sequence, payload)?]);
            Ok(())
        })?;
        for record in &records {
            expired::put_in_place(&segments_dir, &expired_dir, record)?;
        }
        for file in unlisted {
            clear_away(&file, &segments_dir, &quarantine_dir)?;
        }
        log::remove_through(&log_dir, position).map_err(StoreError::io("remove from", &log_dir))?;
        let recovered = Recovered {
            last,
            quarantine: quarantine::measure(&quarantine_dir)?,
            damage,
        };
        Ok((recovered, changes))
    })
    .await?;
    if !changes.is_empty() {
        catalogue.set_damage(&changes).await?;
    }
    Ok(recovered)
}

/// What the catalogue must be told of a segment: why it cannot be read, or (`None`) that it can be read again.
type Change = (i64, Option<String>);

/// The segments that cannot be read, and what of it the catalogue does not say. A file that is missing or has another size is damaged.
/// The whole file of a segment that is marked as damaged is read: it may have been restored.
fn examine(
    segments: &[Arc<Segment>],
    place: &impl Fn(&Segment) -> PathBuf,
) -> Result<(Damage, Vec<Change>)> {
    let (mut damage, mut changes) = (Damage::new(), Vec::new());
    for segment in segments {
        let record = &segment.record;
        let found = match &record.damage {
            Some(_) => damage_of(segment, &place(segment), &|_| {})?,
            None => size_differs(segment, &place(segment))?,
        };
        let file = segment.path().display();
        match &found {
            Some(what) => {
                tracing::error!(%file, what, "a segment is damaged; queries leave it out and say so")
            }
            None if record.damage.is_some() => {
                tracing::info!(%file, "a damaged segment can be read again")
            }
            None => {}
        }
        if found != record.damage {
            changes.push((record.id, found.clone()));
        }
        damage.extend(found.map(|what| (record.id, what)));
    }
    Ok((damage, changes))
}

/// What is wrong with a file that is missing or has another size than the catalogue says.
fn size_differs(segment: &Segment, path: &Path) -> Result<Option<String>> {
    match std::fs::metadata(path) {
        Ok(found) if found.len() == segment.record.bytes => Ok(None),
        Ok(found) => Ok(Some(length_differs(found.len(), segment.record.bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Some("missing".to_owned()))
        }
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

/// Refuses a catalogue that misses segments in whose place there are others that it does not list: it is older than a merge.
fn refuse_stale_catalogue(
    root: &Path,
    store: StoreId,
    segments: &[Arc<Segment>],
    place: &impl Fn(&Segment) -> PathBuf,
    unlisted: &[PathBuf],
) -> Result<()> {
    let is_gone = |segment: &&Arc<Segment>| !place(segment).exists();
    let gone: Vec<_> = segments.iter().filter(is_gone).collect();
    if gone.is_empty() {
        return Ok(());
    }
    for file in unlisted {
        // A file that does not read is no proof.
        let footer = read_footer(file).ok();
        let Some(found) = footer.and_then(|footer| Description::of(&footer).ok()) else {
            continue;
        };
        let replaces = |segment: &&Arc<Segment>| {
            let record = &segment.record;
            (found.app, found.table) == (record.app, record.table)
                && found.level > 0
                && found.min_seq <= record.min_seq
                && record.max_seq <= found.max_seq
                && found.min_ts <= record.min_ts
                && record.max_ts <= found.max_ts
        };
        if found.store.is_none_or(|of| of == store)
            && let Some(lost) = gone.iter().copied().find(replaces)
        {
            return Err(StoreError::Foreign {
                path: folder::catalogue_path(root),
                what: format!(
                    "it is older than a merge of segments: it lists {}, which is missing, and not {}, which replaces it \
                     ('hindsight store recover' makes a catalogue of what is there)",
                    lost.path().display(),
                    file.display()
                ),
            });
        }
    }
    Ok(())
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

/// The log's last file is never removed, so one that is gone took acknowledged items with it.
fn refuse_lost_log(log_dir: &Path, position: u64, unlisted: usize) -> Result<()> {
    let files = log::files(log_dir).map_err(StoreError::io("list", log_dir))?;
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
fn unlisted(folder: &Path, records: &[SegmentRecord]) -> Result<Vec<PathBuf>> {
    let known: HashSet<PathBuf> = records
        .iter()
        .map(|record| folder.join(&record.path))
        .collect();
    let mut files = quarantine::files_below(folder, quarantine::DEPTH)?;
    files.retain(|file| !known.contains(file));
    Ok(files)
}

fn clear_away(file: &Path, segments: &Path, quarantine: &Path) -> Result<()> {
    if file.extension().is_some_and(|end| end == TEMPORARY) {
        tracing::info!(file = %file.display(), "removing a file whose writing was interrupted");
        return std::fs::remove_file(file).map_err(StoreError::io("remove", file));
    }
    let target = quarantine::set_aside(file, segments, quarantine)?;
    tracing::warn!(
        file = %target.display(),
        "moved a file that the catalogue does not list to the quarantine; its items are not served"
    );
    Ok(())
}
