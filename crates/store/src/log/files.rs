//! The files of the log: their names, their order, and the removal of those that are no longer needed.

use std::io;
use std::path::{Path, PathBuf};

use crate::vfs::Vfs;

const PREFIX: &str = "log-";
const SUFFIX: &str = ".wal";
/// What ends the name of a file that is being written.
const TEMPORARY: &str = "tmp";

/// One file of the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LogFile {
    /// The sequence of its first record.
    pub(crate) first: u64,
    pub(crate) path: PathBuf,
}

/// The name of the file whose first record has this sequence.
pub(super) fn file_path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{PREFIX}{first:020}{SUFFIX}"))
}

/// The name of a file of the log until it is whole.
pub(super) fn temporary_path(path: &Path) -> PathBuf {
    path.with_extension(TEMPORARY)
}

/// The log's files, in the order of their records.
pub(crate) fn files(vfs: &dyn Vfs, dir: &Path) -> io::Result<Vec<LogFile>> {
    let mut files = Vec::new();
    for entry in vfs.list(dir)? {
        let path = entry.path;
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let number = name
            .strip_prefix(PREFIX)
            .and_then(|rest| rest.strip_suffix(SUFFIX));
        if let Some(first) = number.and_then(|number| number.parse().ok()) {
            files.push(LogFile { first, path });
        }
    }
    files.sort();
    Ok(files)
}

/// How many of the files, from the first one on, hold only records at or before `position`. The last file is never counted: it is
/// being written.
pub(super) fn count_through(files: &[LogFile], position: u64) -> usize {
    files
        .windows(2)
        .take_while(|pair| {
            pair.last()
                .is_some_and(|next| next.first <= position.saturating_add(1))
        })
        .count()
}

/// Removes the files whose every record is at or before `position`.
pub(crate) fn remove_through(vfs: &dyn Vfs, dir: &Path, position: u64) -> io::Result<()> {
    let files = files(vfs, dir)?;
    for file in files.iter().take(count_through(&files, position)) {
        vfs.remove(&file.path)?;
    }
    Ok(())
}

/// Removes files whose writing was interrupted.
pub(crate) fn remove_unfinished(vfs: &dyn Vfs, dir: &Path) -> io::Result<()> {
    for entry in vfs.list(dir)? {
        if entry.path.extension().is_some_and(|end| end == TEMPORARY) {
            vfs.remove(&entry.path)?;
        }
    }
    Ok(())
}
