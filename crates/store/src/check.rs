//! Checks a data folder: reads everything and changes nothing.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blocking::blocking;
use crate::catalogue::{Catalogue, CataloguePlace, SegmentRecord};
use crate::clock::SystemClock;
use crate::error::{Result, StoreError};
use crate::expired::{self, Places};
use crate::folder::{self, is_held};
use crate::format_file;
use crate::log::{self, LogDamage, LogReport};
use crate::objects::{ObjectStorage, SegmentObjects, compare};
use crate::quarantine;
use crate::segment::{Segment, TEMPORARY, damage_of};
use crate::vfs::{self, RealFs, Vfs};

/// How far a check or a recovery has come.
pub trait Progress: Send + Sync {
    /// `bytes` are read in all.
    fn begin(&self, bytes: u64);
    /// `bytes` more were read.
    fn advance(&self, bytes: u64);
}

/// Discards the progress.
impl Progress for () {
    fn begin(&self, _bytes: u64) {}

    fn advance(&self, _bytes: u64) {}
}

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it, or remarkable.
    pub what: String,
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What is damaged or missing.
    pub damage: Vec<Finding>,
    /// What is remarkable and no damage.
    pub notes: Vec<Finding>,
    /// Segments that were read, expired ones included.
    pub segments: u64,
    /// Whole records of the log.
    pub log_records: u64,
    /// Bytes of segments and log that were read.
    pub bytes: u64,
}

impl CheckReport {
    fn damaged(&mut self, path: &Path, what: impl Into<String>) {
        self.damage.push(Finding {
            path: path.to_owned(),
            what: what.into(),
        });
    }

    fn note(&mut self, path: &Path, what: impl Into<String>) {
        self.notes.push(Finding {
            path: path.to_owned(),
            what: what.into(),
        });
    }
}

/// Reads a data folder whole and compares it with its checksums and its catalogue: the file `format`, the catalogue, each segment
/// and its footer, each record of the log. Nothing is changed. A server may hold the folder: what it removes meanwhile is no damage.
/// `objects` is the object store that segments are in; objects that the catalogue does not list are noted.
///
/// # Errors
/// [`StoreError::SegmentsElsewhere`] if segments are in an object store and none is named, [`StoreError::Object`] if it cannot be read;
/// [`StoreError::NoStore`] if there is no store, [`StoreError::NewerFormat`] if a newer program wrote it. Damage is not an error.
pub async fn check(
    root: &Path,
    objects: Option<Arc<dyn ObjectStorage>>,
    progress: Arc<dyn Progress>,
) -> Result<CheckReport> {
    format_file::refuse_postgres(
        &RealFs,
        root,
        "'hindsight store check'",
        "queries verify the checksums of segments, and pg_amcheck checks the database",
    )?;
    let mut report = CheckReport::default();
    let catalogue_path = folder::catalogue_path(root);
    if !exists(&root.join("segments"))? && !exists(&catalogue_path)? {
        return Err(StoreError::NoStore {
            path: root.to_owned(),
        });
    }
    let held = is_held(root);
    let format = check_format(root, &mut report)?;
    let objects = open_objects(root, objects)?;
    let reader = Arc::new(Reader {
        root: root.to_owned(),
        held,
        objects,
        progress,
    });
    // The log before the catalogue: a running server removes files of the log once the catalogue says so.
    let (first, log_reader) = (report, reader.clone());
    let (mut report, log_found) = blocking(move || log_reader.log(first)).await?;
    let listed = match check_catalogue(root, held, format, &mut report).await {
        Ok(listed) => listed,
        Err(error) => {
            report.damaged(&catalogue_path, error.to_string());
            None
        }
    };
    let position = listed.as_ref().map(|listed| listed.position);
    compare_log(&root.join("log"), log_found, position, &mut report);
    let mut report = blocking(move || reader.segments(listed, report)).await?;
    if held && !report.damage.is_empty() {
        forget_removed(root, &mut report).await;
    }
    Ok(report)
}

/// The objects of a data folder whose segments are in an object store.
fn open_objects(
    root: &Path,
    storage: Option<Arc<dyn ObjectStorage>>,
) -> Result<Option<SegmentObjects>> {
    let Ok(Some(format)) = format_file::read(&RealFs, root) else {
        return Ok(None);
    };
    let Some(store) = format.store.filter(|_| format.has_objects) else {
        return Ok(None);
    };
    let storage = storage.ok_or_else(|| StoreError::SegmentsElsewhere {
        path: root.to_owned(),
    })?;
    compare(&*storage, store)?;
    let (vfs, clock) = (Arc::new(RealFs), Arc::new(SystemClock::default()));
    Ok(Some(SegmentObjects::without_cache(
        storage, store, vfs, clock,
    )))
}

/// Reads the segments of a store whose catalogue is in PostgreSQL and whose segments are in an object store, and compares them with the
/// catalogue. Neither the log nor the catalogue is examined. Servers may hold the store.
///
/// # Errors
/// [`StoreError::SegmentsInFolder`] if the segments of the data folder are not in an object store; as [`check`] otherwise.
pub async fn check_objects(
    root: &Path,
    catalogue: &CataloguePlace,
    storage: Arc<dyn ObjectStorage>,
    progress: Arc<dyn Progress>,
) -> Result<CheckReport> {
    let address = storage.address().to_owned();
    let objects = open_objects(root, Some(storage))?;
    let objects = objects.ok_or_else(|| StoreError::SegmentsInFolder {
        path: root.to_owned(),
        objects: address,
    })?;
    let catalogue = catalogue.open(root).await?;
    let segments = catalogue.all_segments().await?;
    catalogue.close().await;
    let listed = Listed {
        segments,
        position: 0,
    };
    let reader = Reader {
        root: root.to_owned(),
        held: true,
        objects: None,
        progress,
    };
    blocking(move || reader.objects(&objects, Some(listed), CheckReport::default())).await
}

/// What was found in the log, besides what a report says.
#[derive(Default)]
struct LogFound {
    first: Option<u64>,
    damage: Vec<LogDamage>,
}

/// Reports the damage to requests after the position of the catalogue: a power failure may bring back any file before it. A log that
/// begins after the position lacks records.
fn compare_log(dir: &Path, found: LogFound, position: Option<u64>, report: &mut CheckReport) {
    for damage in found.damage {
        if position.is_none_or(|position| damage.is_after(position)) {
            report.damaged(&damage.path, damage.what);
        }
    }
    let Some(position) = position else { return };
    match found.first {
        None if position > 0 => report.damaged(dir, "the files of the log are gone"),
        Some(first) if first > position + 1 => {
            let due = position + 1;
            let what = format!("record {due} is missing: the log begins with record {first}");
            report.damaged(dir, what);
        }
        _ => {}
    }
}

/// What the catalogue lists.
struct Listed {
    segments: Vec<SegmentRecord>,
    position: u64,
}

/// The id of the store, if the file `format` names one.
fn check_format(root: &Path, report: &mut CheckReport) -> Result<Option<String>> {
    let path = root.join("format");
    match format_file::read(&RealFs, root) {
        Ok(Some(format)) => Ok(format.store.map(|id| id.to_string())),
        Ok(None) => {
            report.damaged(&path, "missing");
            Ok(None)
        }
        Err(error @ StoreError::NewerFormat { .. }) => Err(error),
        Err(error) => {
            report.damaged(&path, error.to_string());
            Ok(None)
        }
    }
}

async fn check_catalogue(
    root: &Path,
    held: bool,
    store: Option<String>,
    report: &mut CheckReport,
) -> Result<Option<Listed>> {
    let path = folder::catalogue_path(root);
    if !exists(&path)? {
        report.damaged(&path, "missing");
        return Ok(None);
    }
    let catalogue = Catalogue::open_to_read(&path, held).await?;
    let examined = catalogue.examine().await?;
    for problem in examined.damage.into_iter().chain(examined.lost) {
        report.damaged(&path, problem);
    }
    let id = catalogue.store_text().await?;
    if store.is_some() && id != store {
        report.damaged(
            &path,
            "it is not the catalogue of the store that the file 'format' names",
        );
    }
    let listed = Listed {
        segments: catalogue.all_segments().await?,
        position: catalogue.log_position().await?,
    };
    catalogue.close().await;
    Ok(Some(listed))
}

/// Reads segments and log.
struct Reader {
    root: PathBuf,
    held: bool,
    objects: Option<SegmentObjects>,
    progress: Arc<dyn Progress>,
}

impl Reader {
    fn segments(&self, listed: Option<Listed>, mut report: CheckReport) -> Result<CheckReport> {
        if let Some(objects) = &self.objects {
            return self.objects(objects, listed, report);
        }
        let segments = self.root.join("segments");
        let files = files_in(&segments)?;
        let is_listed = listed.is_some();
        let records = listed.map(|listed| listed.segments).unwrap_or_default();
        let mut known = HashSet::new();
        for record in &records {
            known.insert(segments.join(&record.path));
            self.segment(record, &mut report)?;
        }
        for file in files.iter().filter(|file| !known.contains(*file)) {
            // A running server writes segments before it lists them.
            if self.held {
                continue;
            }
            if file.extension().is_some_and(|end| end == TEMPORARY) {
                report.note(file, "it was never finished; opening removes it");
            } else if is_listed {
                report.note(
                    file,
                    "the catalogue does not list it; opening moves it to the quarantine",
                );
            }
        }
        let aside = quarantine::measure(&RealFs, &self.root.join("quarantine"))?;
        if aside.files > 0 {
            let what = format!("{} files, which are not served", aside.files);
            report.note(&self.root.join("quarantine"), what);
        }
        Ok(report)
    }

    fn segment(&self, record: &SegmentRecord, report: &mut CheckReport) -> Result<()> {
        let segments = self.root.join("segments");
        let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
        let place = Places::of(vfs.clone(), &self.root).location(record)?;
        let segment = Segment::new(vfs, &segments, record.clone());
        report.segments += 1;
        let read = std::cell::Cell::new(0);
        let advance = |bytes: u64| {
            read.set(read.get() + bytes);
            self.progress.advance(bytes);
        };
        let found = match damage_of(&segment, &place, &advance) {
            Ok(found) => found,
            Err(error) => Some(error.to_string()),
        };
        report.bytes += read.get();
        if let Some(what) = found {
            report.damaged(&place, what);
        } else if let Some(mark) = &record.damage {
            let what = format!(
                "it is marked as damaged ({mark}) and can be read; the next opening serves it again"
            );
            report.note(&place, what);
        }
        Ok(())
    }

    /// Reads all objects of segments. A running server writes objects before it lists them, and deletes some later than the catalogue forgets
    /// them.
    fn objects(
        &self,
        objects: &SegmentObjects,
        listed: Option<Listed>,
        mut report: CheckReport,
    ) -> Result<CheckReport> {
        let found = objects.list()?;
        let is_listed = listed.is_some();
        let records = listed.map(|listed| listed.segments).unwrap_or_default();
        self.progress
            .begin(records.iter().map(|record| record.bytes).sum());
        for record in &records {
            let name = PathBuf::from(objects.name_of(&record.path));
            report.segments += 1;
            match objects.damage_of(record)? {
                Some(what) => report.damaged(&name, what),
                None => report.bytes += record.bytes,
            }
            self.progress.advance(record.bytes);
        }
        let known: HashSet<&str> = records.iter().map(|record| record.path.as_str()).collect();
        for object in found.iter().filter(|_| is_listed) {
            if !known.contains(object.key.as_str()) {
                let name = PathBuf::from(objects.name_of(&object.key));
                report.note(
                    &name,
                    "the catalogue does not list it; a server deletes it once it is old enough",
                );
            }
        }
        Ok(report)
    }

    /// Reads the log; the damage in it is not in the report yet.
    fn log(&self, mut report: CheckReport) -> Result<(CheckReport, LogFound)> {
        let dir = self.root.join("log");
        let mut total = 0;
        for folder in ["log", "segments", "expired"] {
            total += files_in(&self.root.join(folder))?
                .iter()
                .map(|path| vfs::length(&RealFs, path))
                .sum::<u64>();
        }
        self.progress.begin(total);
        if !exists(&dir)? {
            report.damaged(&dir, "missing");
            return Ok((report, LogFound::default()));
        }
        let found = match self.inspect(&dir) {
            Ok(found) => found,
            Err(error) => {
                report.damaged(&dir, error.to_string());
                return Ok((report, LogFound::default()));
            }
        };
        report.log_records = found.records;
        report.bytes += found.bytes;
        // A running server is writing the end.
        if let Some(torn) = found.torn.filter(|_| !self.held) {
            let what = format!(
                "{}; it was never acknowledged, and opening removes it",
                torn.what
            );
            report.note(&torn.path, what);
        }
        let found = LogFound {
            first: found.first,
            damage: found.damage,
        };
        Ok((report, found))
    }

    /// A running server may remove a file between the listing and the reading.
    fn inspect(&self, dir: &Path) -> Result<LogReport> {
        for _ in 0..ATTEMPTS {
            match log::inspect(&RealFs, dir) {
                Err(StoreError::Io { source, .. })
                    if self.held && source.kind() == std::io::ErrorKind::NotFound => {}
                Ok(found) => {
                    self.progress.advance(found.bytes);
                    return Ok(found);
                }
                Err(error) => return Err(error),
            }
        }
        log::inspect(&RealFs, dir)
    }
}

/// How often the log is read again while a running server removes its files.
const ATTEMPTS: usize = 5;

/// Drops findings about files that a running server has removed since they were listed.
async fn forget_removed(root: &Path, report: &mut CheckReport) {
    let now = async {
        let catalogue = Catalogue::open_to_read(&folder::catalogue_path(root), true).await?;
        let records = catalogue.all_segments().await?;
        catalogue.close().await;
        Ok::<_, StoreError>(records)
    };
    let Ok(records) = now.await else { return };
    let (segments, expired) = (root.join("segments"), expired::folder(root));
    let both = Places::of(Arc::new(RealFs), root);
    let places: HashSet<PathBuf> = records
        .iter()
        .filter_map(|record| both.location(record).ok())
        .collect();
    let log = root.join("log");
    report.damage.retain(|finding| {
        let below = |folder: &Path| finding.path != folder && finding.path.starts_with(folder);
        if below(&segments) || below(&expired) {
            places.contains(&finding.path)
        } else {
            !below(&log) || exists(&finding.path).unwrap_or(true)
        }
    });
}

/// The files below a folder, none where there is no folder.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    if !exists(folder)? {
        return Ok(Vec::new());
    }
    quarantine::files_below(&RealFs, folder, quarantine::DEPTH)
}

fn exists(path: &Path) -> Result<bool> {
    vfs::exists(&RealFs, path).map_err(StoreError::io("read", path))
}
