//! What a recovery moves and creates in a data folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Result, StoreError};
use crate::folder;
use crate::health::HealthCell;
use crate::log::{self, Appended, LogSink, LogWriter, WriterSettings};
use crate::segment::move_file;
use crate::vfs::RealFs;

/// An empty folder to build the catalogue in; an earlier recovery may have been interrupted.
pub(super) fn prepare(building: &Path, new: &Path) -> Result<()> {
    std::fs::create_dir_all(building).map_err(StoreError::io("create", building))?;
    for suffix in SUFFIXES {
        let path = with_suffix(new, suffix);
        if path.exists() {
            std::fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
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
    let files = log::files(&dir).map_err(StoreError::io("list", &dir))?;
    let aside = free(|number| root.join("quarantine").join(format!("log-{number}")));
    for file in files {
        let name = file.path.file_name().unwrap_or_default();
        move_file(&file.path, &aside.join(name)).map_err(StoreError::io("move", &file.path))?;
    }
    let settings = WriterSettings {
        dir,
        vfs: Arc::new(RealFs),
        delay: std::time::Duration::ZERO,
        commit_bytes: 1,
        file_bytes: 1,
    };
    LogWriter::start(
        settings,
        position + 1,
        Arc::new(HealthCell::default()),
        NoSink,
    )
    .map(drop)
}

/// Nothing is appended.
struct NoSink;

impl LogSink for NoSink {
    fn durable(&self, _appended: Vec<Appended>) {}

    fn freeze(&self, _position: u64) {}
}

/// Keeps the old catalogue under another name and puts the new one in its place; says where the old one lies.
pub(super) fn put_in_place(root: &Path, building: &Path) -> Result<Option<PathBuf>> {
    let path = folder::catalogue_path(root);
    let aside = free(|number| root.join(format!("catalogue-kept-{number}.db")));
    let mut kept = None;
    // The file itself last: without it opening refuses.
    for suffix in SUFFIXES.iter().rev() {
        let from = with_suffix(&path, suffix);
        if from.exists() {
            move_file(&from, &with_suffix(&aside, suffix))
                .map_err(StoreError::io("move", &from))?;
            kept = Some(aside.clone());
        }
    }
    let new = building.join("catalogue.db");
    move_file(&new, &path).map_err(StoreError::io("move", &new))?;
    std::fs::remove_dir(building).map_err(StoreError::io("remove", building))?;
    std::fs::File::open(root)
        .and_then(|folder| folder.sync_all())
        .map_err(StoreError::io("sync", root))?;
    Ok(kept)
}

/// The first of the numbered paths at which nothing lies.
fn free(path: impl Fn(u32) -> PathBuf) -> PathBuf {
    let mut number = 1;
    while path(number).exists() {
        number += 1;
    }
    path(number)
}
