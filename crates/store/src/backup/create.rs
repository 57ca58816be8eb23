//! Creating a backup, also while a server holds the data folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::{self, Copier};
use super::manifest::{self, FileEntry, Manifest};
use super::{BackupReport, Beside};
use crate::blocking::blocking;
use crate::catalogue::{Catalogue, SegmentRecord};
use crate::check::{Finding, Progress};
use crate::error::{Result, StoreError};
use crate::expired::Places;
use crate::folder;
use crate::format_file;
use crate::log;
use crate::quarantine;
use crate::store_id::StoreId;
use crate::vfs::{FileLock, RealFs, Vfs};

/// How often the log is copied again because the server rotated its files meanwhile.
const ATTEMPTS: usize = 100;
/// The file that says that a backup was begun in a folder without one.
const BEGUN: &str = "begun";

/// Copies the data folder `root` to `backup`, which is created, or brought up to date if it holds an earlier backup of the same store:
/// segments that it has are not copied again. Everything that was acknowledged before the call is in the backup, and each item once.
/// A server may hold the data folder. If the call fails, an earlier backup in the folder is as it was.
///
/// `beside` are files and folders of other parts of the program. Damage in the data folder is reported and is no error.
///
/// # Errors
/// [`StoreError::NoStore`] if there is no store, [`StoreError::NotEmpty`] if `backup` is no backup and not empty,
/// [`StoreError::Foreign`] if it is a backup of another store, [`StoreError::Locked`] if another process writes it,
/// [`StoreError::Damaged`] if the log of the data folder is damaged.
pub async fn create_backup(
    root: &Path,
    backup: &Path,
    beside: Beside<'_>,
    now: i64,
    progress: Arc<dyn Progress>,
) -> Result<BackupReport> {
    format_file::refuse_postgres(
        &RealFs,
        root,
        "'hindsight backup'",
        "stop the server, then copy the data folder and dump the database with pg_dump",
    )?;
    format_file::refuse_objects(
        &RealFs,
        root,
        "'hindsight backup'",
        "stop the server, then copy the data folder and the objects",
    )?;
    folder::require_catalogue(&RealFs, root)?;
    // Held to the end: a server that starts meanwhile would change the folder in ways that a running one does not.
    let source_lock = hold(&root.join("lock"))?;
    let is_held = source_lock.is_none();
    let store = format_file::read(&RealFs, root)?
        .and_then(|format| format.store)
        .ok_or_else(|| StoreError::Foreign {
            catalogue: root.join("format").display().to_string(),
            what: "it does not name its store; start the server once".to_owned(),
        })?;
    let (target, earlier) = open_target(backup, store)?;
    let target_lock = hold(&backup.join("lock"))?.ok_or_else(|| StoreError::Locked {
        path: backup.to_owned(),
        pid: None,
        url: None,
    })?;
    let work = Work {
        root: root.to_owned(),
        backup: backup.to_owned(),
        state: target,
        progress,
    };
    // The log before the catalogue: see the documentation of the module.
    let (work, copier) = blocking(move || work.log()).await?;
    let mut segments = Segments {
        earlier,
        copier,
        files: BTreeMap::new(),
        damage: BTreeMap::new(),
        kept: 0,
        copied: 0,
    };
    let mut missing = BTreeSet::new();
    let position = loop {
        let (records, position) = copy_catalogue(&work, is_held, store).await?;
        let (copying, reading) = (work.clone(), records);
        let (mut done, absent) = blocking(move || {
            segments
                .copy(&copying, reading)
                .map(|gone| (segments, gone))
        })
        .await?;
        // A file may be gone because a merge replaced it since. If a later catalogue lists it too, it is lost.
        if absent.is_subset(&missing) {
            for path in absent {
                let file = work.root.join("segments").join(&path);
                done.damage.insert(path, finding(file, "missing"));
            }
            segments = done;
            break position;
        }
        missing = absent;
        segments = done;
    };
    let beside = beside.to_vec();
    let report = blocking(move || work.finish(store, segments, &beside, position, now)).await;
    drop((source_lock, target_lock));
    report
}

/// Takes the lock of a folder; `None` if another process holds it.
fn hold(lock: &Path) -> Result<Option<Box<dyn FileLock>>> {
    RealFs.lock(lock).map_err(StoreError::io("lock", lock))
}

/// The folder for the files that each backup writes anew, and the earlier manifest.
fn open_target(backup: &Path, store: StoreId) -> Result<(String, Option<Manifest>)> {
    let begun = backup.join(BEGUN);
    let earlier = match Manifest::read(backup) {
        Ok(earlier) if earlier.store != store.to_string() => {
            return Err(StoreError::Foreign {
                catalogue: manifest::path(backup).display().to_string(),
                what: format!("it is a backup of store {}", earlier.store),
            });
        }
        Ok(earlier) => Some(earlier),
        Err(StoreError::NoBackup { .. }) if files::exists(&begun)? => None,
        Err(StoreError::NoBackup { .. }) if files::is_empty(backup)? => {
            RealFs
                .create_dir(backup)
                .map_err(StoreError::io("create", backup))?;
            let written = RealFs.create(&begun).and_then(|mut file| file.sync());
            written.map_err(StoreError::io("create", &begun))?;
            None
        }
        Err(StoreError::NoBackup { .. }) => {
            return Err(StoreError::NotEmpty {
                path: backup.to_owned(),
            });
        }
        Err(error) => return Err(error),
    };
    let number = earlier
        .as_ref()
        .and_then(|earlier| earlier.state.strip_prefix("state-")?.parse::<u64>().ok());
    Ok((format!("state-{}", number.unwrap_or(0) + 1), earlier))
}

fn finding(path: PathBuf, what: impl Into<String>) -> Finding {
    Finding {
        path,
        what: what.into(),
    }
}

/// A backup that is being created.
#[derive(Clone)]
struct Work {
    root: PathBuf,
    backup: PathBuf,
    state: String,
    progress: Arc<dyn Progress>,
}

impl Work {
    fn state(&self) -> PathBuf {
        self.backup.join(&self.state)
    }

    /// Copies the files of the log as they are at one moment.
    fn log(self) -> Result<(Work, Copier)> {
        let mut total = 0;
        for name in ["log", "segments", "expired"] {
            let folder = self.root.join(name);
            for file in files::below(&folder, quarantine::DEPTH)? {
                total += crate::vfs::length(&RealFs, &folder.join(file));
            }
        }
        self.progress.begin(total);
        self.clear_state()?;
        let mut copier = Copier::default();
        let (from, to) = (self.root.join("log"), self.state().join("log"));
        copier.create_dir(&to)?;
        for _ in 0..ATTEMPTS {
            if self.copy_log(&from, &to, &mut copier)? {
                return Ok((self, copier));
            }
        }
        Err(StoreError::io("copy", &from)(io::Error::other(
            "its files change faster than they can be copied",
        )))
    }

    /// Removes what an interrupted backup left.
    fn clear_state(&self) -> Result<()> {
        let state = self.state();
        for file in files::below(&state, 2)? {
            let path = state.join(file);
            RealFs
                .remove(&path)
                .map_err(StoreError::io("remove", &path))?;
        }
        Ok(())
    }

    /// Copies the log's files; false if other files came meanwhile. A file may be cut where its successor begins, so a copy without the
    /// successor would bring back requests that were refused.
    fn copy_log(&self, from: &Path, to: &Path, copier: &mut Copier) -> Result<bool> {
        let list = || log::files(&RealFs, from).map_err(StoreError::io("list", from));
        let before = list()?;
        for file in log::files(&RealFs, to).map_err(StoreError::io("list", to))? {
            RealFs
                .remove(&file.path)
                .map_err(StoreError::io("remove", &file.path))?;
        }
        for file in &before {
            let name = file.path.file_name().unwrap_or_default();
            match copier.copy(&file.path, &to.join(name), &|_| {}) {
                Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    return Ok(false);
                }
                copied => copied.map(drop)?,
            }
        }
        Ok(before == list()?)
    }

    /// Everything but log, catalogue and segments; then the manifest, which makes it a backup.
    fn finish(
        self,
        store: StoreId,
        mut segments: Segments,
        beside: Beside<'_>,
        position: u64,
        now: i64,
    ) -> Result<BackupReport> {
        let state = self.state();
        let log_dir = state.join("log");
        log::remove_through(&RealFs, &log_dir, position)
            .map_err(StoreError::io("remove from", &log_dir))?;
        let found = log::inspect(&RealFs, &log_dir)?;
        if let Some(damage) = found.damage.iter().find(|damage| damage.is_after(position)) {
            return Err(StoreError::Damaged {
                path: self.root.join("log"),
                offset: 0,
                what: format!("the log cannot be read back: {}", damage.what),
            });
        }
        let mut copied = Vec::new();
        for name in beside.iter().cloned().chain([PathBuf::from("format")]) {
            let source = self.root.join(&name);
            let is_dir = RealFs
                .info(&source)
                .map_err(StoreError::io("read", &source))?;
            match is_dir.map(|found| found.is_dir) {
                None => {}
                Some(false) => copied.push(name),
                Some(true) => {
                    let inner = files::below(&source, 0)?;
                    copied.extend(inner.into_iter().map(|file| name.join(file)));
                }
            }
        }
        for name in copied {
            segments
                .copier
                .copy(&self.root.join(&name), &state.join(&name), &|_| {})?;
        }
        for file in files::below(&state, 1)? {
            let path = state.join(&file);
            if is_part_of_state(&file) {
                let read = files::read(&path, &|_| {}).map_err(StoreError::io("read", &path))?;
                let name = format!("{}/{}", self.state, files::text(&file));
                segments.files.insert(name, read.entry);
                segments.copied += read.entry.bytes;
            }
        }
        segments.copier.sync(&self.backup)?;
        let manifest = Manifest {
            store: store.to_string(),
            created: now,
            sequence: found.last.max(position),
            state: self.state.clone(),
            files: segments.files,
        };
        manifest.write(&self.backup)?;
        self.remove_others(&manifest)?;
        let count = manifest.files.keys();
        Ok(BackupReport {
            created: now,
            sequence: manifest.sequence,
            segments: count.filter(|path| path.starts_with("segments/")).count() as u64,
            kept: segments.kept,
            bytes: manifest.bytes(),
            copied: segments.copied,
            damage: segments.damage.into_values().collect(),
        })
    }

    /// Removes the files that belong to earlier backups alone.
    fn remove_others(&self, manifest: &Manifest) -> Result<()> {
        let remove = |path: &Path| RealFs.remove(path).map_err(StoreError::io("remove", path));
        let listed = RealFs.list(&self.backup);
        let listed = listed.map_err(StoreError::io("list", &self.backup))?;
        for folder in listed.into_iter().filter(|entry| entry.is_dir) {
            let name = folder.path.file_name().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            if name != "segments" && !name.starts_with("state-") {
                continue;
            }
            for file in files::below(&folder.path, quarantine::DEPTH)? {
                if !manifest
                    .files
                    .contains_key(&format!("{name}/{}", files::text(&file)))
                {
                    remove(&folder.path.join(file))?;
                }
            }
            if name != "segments" && name != manifest.state {
                for inner in ["log", "tls", ""] {
                    // A folder that is not empty stays.
                    let _ = RealFs.remove_dir(&folder.path.join(inner));
                }
            }
        }
        let begun = self.backup.join(BEGUN);
        if files::exists(&begun)? {
            remove(&begun)?;
        }
        Ok(())
    }
}

/// Whether a file of the state is data, and not what SQLite leaves beside its file.
fn is_part_of_state(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    !name.ends_with("-wal") && !name.ends_with("-shm") && name != "catalogue.generation"
}

/// Copies the catalogue as it is now; returns the segments that it lists and the log's position in it.
async fn copy_catalogue(
    work: &Work,
    is_held: bool,
    store: StoreId,
) -> Result<(Vec<SegmentRecord>, u64)> {
    let source = folder::catalogue_path(&work.root);
    let target = folder::catalogue_path(&work.state());
    let (copy, backup) = (target.clone(), work.state());
    blocking(move || {
        for file in files::below(&backup, 0)? {
            let path = backup.join(file);
            RealFs
                .remove(&path)
                .map_err(StoreError::io("remove", &path))?;
        }
        Ok(copy)
    })
    .await?;
    let catalogue = Catalogue::open_to_read(&source, is_held).await?;
    let examined = catalogue.examine().await?;
    if let Some(what) = examined.damage.into_iter().chain(examined.lost).next() {
        return Err(StoreError::DamagedCatalogue { path: source, what });
    }
    catalogue.copy_to(&target).await?;
    catalogue.close().await;
    // Row ids differ in a copy, and the checksums of rows go by them.
    let copy = Catalogue::open_at(&target, store).await?;
    let listed = (copy.all_segments().await?, copy.log_position().await?);
    copy.close().await;
    let mut wal = target.as_os_str().to_owned();
    wal.push("-wal");
    let wal = PathBuf::from(wal);
    if crate::vfs::length(&RealFs, &wal) > 0 {
        return Err(StoreError::io("close", &wal)(io::Error::other(
            "SQLite keeps changes of the copied catalogue in it",
        )));
    }
    Ok(listed)
}

/// The segments of a backup that is being created.
struct Segments {
    earlier: Option<Manifest>,
    copier: Copier,
    /// Files by their paths in the backup: those of the catalogue that was copied last, after [`Segments::copy`].
    files: BTreeMap<String, FileEntry>,
    /// What is wrong with segments, by their paths.
    damage: BTreeMap<String, Finding>,
    kept: u64,
    copied: u64,
}

impl Segments {
    /// Copies the files of segments that the backup does not have; returns the paths of those that are gone.
    fn copy(&mut self, work: &Work, records: Vec<SegmentRecord>) -> Result<BTreeSet<String>> {
        let places = Places::of(Arc::new(RealFs), &work.root);
        let mut absent = BTreeSet::new();
        let mut files = BTreeMap::new();
        for record in records {
            let name = format!("segments/{}", record.path);
            let entry = match self.files.get(&name) {
                Some(entry) => Some(*entry),
                None => self.copy_one(work, &places, &record, &name)?,
            };
            match entry {
                Some(entry) => drop(files.insert(name, entry)),
                None => drop(absent.insert(record.path)),
            }
        }
        self.files = files;
        self.damage
            .retain(|path, _| self.files.contains_key(&format!("segments/{path}")));
        Ok(absent)
    }

    /// Copies a segment unless an earlier backup has it; `None` if its file is gone.
    fn copy_one(
        &mut self,
        work: &Work,
        places: &Places,
        record: &SegmentRecord,
        name: &str,
    ) -> Result<Option<FileEntry>> {
        let target = work.backup.join(name);
        let due = record.checksums.as_ref().map(|sums| FileEntry {
            checksum: sums.of_file(record.bytes),
            bytes: record.bytes,
        });
        let known = self.earlier.as_ref().and_then(|of| of.files.get(name));
        if let Some(known) = known
            && due.is_none_or(|due| due == *known)
            && crate::vfs::length(&RealFs, &target) == known.bytes
        {
            work.progress.advance(known.bytes);
            self.kept += 1;
            return Ok(Some(*known));
        }
        let source = places.location(record)?;
        let advance = |bytes| work.progress.advance(bytes);
        let copied = match self.copier.copy(&source, &target, &advance) {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            copied => copied?,
        };
        self.copied += copied.entry.bytes;
        let difference = record
            .checksums
            .as_ref()
            .and_then(|sums| sums.first_difference(&copied.checksums));
        if let Some(byte) = difference {
            let what = format!("damaged at byte {byte}");
            self.damage
                .insert(record.path.clone(), finding(source, what));
        }
        // The checksum that is due: a verification names the damaged file too.
        Ok(Some(due.unwrap_or(copied.entry)))
    }
}
