//! What a recovery moves and creates in a data folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalogue::generation_path;
use crate::error::{Result, StoreError};
use crate::folder;
use crate::health::HealthCell;
use crate::log::{self, Appended, LogEnd, LogSettings, LogSink, LogWriter};
use crate::segment::move_file;
use crate::vfs::{self, RealFs, Vfs};

/// An empty folder to build the catalogue in; an earlier recovery may have been interrupted.
pub(crate) fn prepare(building: &Path, new: &Path) -> Result<()> {
    RealFs
        .create_dir(building)
        .map_err(StoreError::io("create", building))?;
    let files = SUFFIXES.map(|suffix| with_suffix(new, suffix));
    for path in files.into_iter().chain([generation_path(building)]) {
        if exists(&path)? {
            RealFs
                .remove(&path)
                .map_err(StoreError::io("remove", &path))?;
        }
    }
    Ok(())
}

/// The files of an SQLite database.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Moves the files of the log aside and begins a new one after `position`.
pub(super) fn begin_log(root: &Path, position: u64) -> Result<()> {
    let dir = root.join("log");
    let files = log::files(&RealFs, &dir).map_err(StoreError::io("list", &dir))?;
    let aside = free(|number| root.join("quarantine").join(format!("log-{number}")))?;
    for file in files {
        let name = file.path.file_name().unwrap_or_default();
        move_file(&RealFs, &file.path, &aside.join(name))
            .map_err(StoreError::io("move", &file.path))?;
    }
    let settings = LogSettings {
        dir,
        vfs: Arc::new(RealFs),
        delay: std::time::Duration::ZERO,
        commit_bytes: 1,
        file_bytes: 1,
    };
    let end = LogEnd {
        next: position + 1,
        last_file: None,
    };
    LogWriter::start(settings, end, Arc::new(HealthCell::default()), NoSink, None).map(drop)
}

/// Nothing is appended.
struct NoSink;

impl LogSink for NoSink {
    fn durable(&self, _appended: Vec<Appended>) {}

    fn freeze(&self, _position: u64) {}
}

/// Keeps the catalogue's file under another name; says where it lies.
pub(crate) fn set_aside(root: &Path) -> Result<Option<PathBuf>> {
    let path = folder::catalogue_path(root);
    let aside = free(|number| root.join(format!("catalogue-kept-{number}.db")))?;
    let mut kept = None;
    // The file itself last: without it opening refuses.
    for suffix in SUFFIXES.iter().rev() {
        let from = with_suffix(&path, suffix);
        if exists(&from)? {
            move_file(&RealFs, &from, &with_suffix(&aside, suffix))
                .map_err(StoreError::io("move", &from))?;
            kept = Some(aside.clone());
        }
    }
    Ok(kept)
}

/// Keeps the old catalogue under another name and puts the new one in its place; says where the old one lies.
pub(crate) fn put_in_place(root: &Path, building: &Path) -> Result<Option<PathBuf>> {
    let path = folder::catalogue_path(root);
    let kept = set_aside(root)?;
    let new = building.join("catalogue.db");
    // Before the new catalogue: the number of the old one would say that it lacks transactions.
    replace_generation(root, building)?;
    move_file(&RealFs, &new, &path).map_err(StoreError::io("move", &new))?;
    RealFs
        .remove_dir(building)
        .map_err(StoreError::io("remove", building))?;
    RealFs
        .sync_dir(root)
        .map_err(StoreError::io("sync", root))?;
    Ok(kept)
}

/// Puts the number of committed transactions of the new catalogue in the place of that of the old one.
fn replace_generation(root: &Path, building: &Path) -> Result<()> {
    let (old, new) = (generation_path(root), generation_path(building));
    if exists(&new)? {
        return RealFs
            .rename(&new, &old)
            .map_err(StoreError::io("move", &new));
    }
    if exists(&old)? {
        RealFs
            .remove(&old)
            .map_err(StoreError::io("remove", &old))?;
    }
    Ok(())
}

/// The first of the numbered paths at which nothing lies.
fn free(path: impl Fn(u32) -> PathBuf) -> Result<PathBuf> {
    let mut number = 1;
    while exists(&path(number))? {
        number += 1;
    }
    Ok(path(number))
}

fn exists(path: &Path) -> Result<bool> {
    vfs::exists(&RealFs, path).map_err(StoreError::io("read", path))
}
