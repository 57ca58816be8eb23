//! The file of the log that is being written: it is begun, extended by whole groups of records, and repaired.
//!
//! A file has its final name only when its header is durable, and the name of a file is a promise: every record before its
//! first one is durable in earlier files or in segments, and no record of an earlier file from that one on was acknowledged.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::files::{file_path, temporary_path};
use super::record::{self, FILE_HEADER};
use super::replay::LogEnd;
use crate::error::{Result, StoreError};
use crate::vfs::{self, Vfs, WriteFile};

/// Where and how the log is written.
#[derive(Debug, Clone)]
pub(crate) struct LogSettings {
    pub(crate) dir: PathBuf,
    pub(crate) vfs: Arc<dyn Vfs>,
    pub(crate) delay: Duration,
    pub(crate) commit_bytes: usize,
    pub(crate) file_bytes: u64,
}

/// The file being written.
pub(super) struct OpenFile {
    file: Box<dyn WriteFile>,
    pub(super) first: u64,
    /// Bytes that were written whole. All are synced but the last mark of acknowledgement.
    pub(super) length: u64,
    /// Whether all `length` bytes are synced.
    synced: bool,
}

/// Why a file could not be begun.
pub(super) enum NotBegun {
    /// There is no such file: the earlier file may be written further.
    Absent(StoreError),
    /// The file may be there after a crash: nothing may be written to the earlier file any more.
    Unknown(StoreError),
}

impl NotBegun {
    pub(super) fn into_error(self) -> StoreError {
        match self {
            NotBegun::Absent(error) | NotBegun::Unknown(error) => error,
        }
    }
}

/// The outcome of writing records.
pub(super) enum Outcome {
    Durable,
    /// The write failed, and the file is durable as it was before.
    Undone(io::Error),
    /// The content of the file is unknown.
    Unknown(String),
}

impl OpenFile {
    /// Begins the file whose first record has this sequence. A file of this name is replaced.
    pub(super) fn begin(settings: &LogSettings, first: u64) -> Result<OpenFile, NotBegun> {
        let (dir, vfs) = (&settings.dir, &*settings.vfs);
        let path = file_path(dir, first);
        let temporary = temporary_path(&path);
        let written = (|| {
            let mut file = vfs.create(&temporary)?;
            file.write_all(&record::file_header(first))?;
            file.sync()?;
            Ok(file)
        })();
        let file = match written {
            Ok(file) => file,
            Err(error) => {
                // The disk may be full: the unfinished file must not take the space that is left.
                let _ = vfs.remove(&temporary);
                return Err(NotBegun::Absent(StoreError::io("create", &path)(error)));
            }
        };
        vfs.rename(&temporary, &path)
            .and_then(|()| vfs.sync_dir(dir))
            .map_err(|error| NotBegun::Unknown(StoreError::io("create", &path)(error)))?;
        Ok(OpenFile {
            file,
            first,
            length: FILE_HEADER as u64,
            synced: true,
        })
    }

    /// Goes on with a log that was read back: makes durable what was read, and begins the next file.
    ///
    /// What a killed process wrote may not have reached the disk, and after a failed sync a further sync of the same file may
    /// succeed without writing anything. So the good records are copied to a fresh file that replaces the old one.
    pub(super) fn continue_after(settings: &LogSettings, end: &LogEnd) -> Result<OpenFile> {
        if let Some(first) = end.last_file {
            rewrite(settings, first, end.next)?;
        }
        OpenFile::begin(settings, end.next).map_err(NotBegun::into_error)
    }

    /// Writes records and syncs them.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Outcome {
        if let Some(outcome) = self.extend(bytes) {
            return outcome;
        }
        if let Err(error) = self.file.sync() {
            return Outcome::Unknown(format!("the log could not be synced to disk: {error}"));
        }
        self.length += bytes.len() as u64;
        self.synced = true;
        Outcome::Durable
    }

    /// Writes a mark of acknowledgement, which is synced with the next records or by [`OpenFile::sync`].
    pub(super) fn write_mark(&mut self, bytes: &[u8]) -> Outcome {
        if let Some(outcome) = self.extend(bytes) {
            return outcome;
        }
        self.length += bytes.len() as u64;
        self.synced = false;
        Outcome::Durable
    }

    /// Syncs what [`OpenFile::write_mark`] wrote.
    pub(super) fn sync(&mut self) -> Outcome {
        if self.synced {
            return Outcome::Durable;
        }
        match self.file.sync() {
            Ok(()) => {
                self.synced = true;
                Outcome::Durable
            }
            Err(error) => Outcome::Unknown(format!("the log could not be synced to disk: {error}")),
        }
    }

    /// Appends bytes; says what happened if that failed.
    fn extend(&mut self, bytes: &[u8]) -> Option<Outcome> {
        let error = self.file.write_all(bytes).err()?;
        Some(match self.cut() {
            Ok(()) => {
                self.synced = true;
                Outcome::Undone(error)
            }
            Err(second) => Outcome::Unknown(format!(
                "a write to the log failed ({error}), and undoing it: {second}"
            )),
        })
    }

    /// Cuts what was written beyond the acknowledged records.
    pub(super) fn cut(&mut self) -> io::Result<()> {
        self.file.truncate(self.length)?;
        self.file.sync()
    }

    /// Takes records back that [`OpenFile::write`] wrote when the file had `length` bytes.
    pub(super) fn take_back(&mut self, length: u64) -> io::Result<()> {
        self.length = length;
        self.cut()?;
        self.synced = true;
        Ok(())
    }

    /// Where a later writer has to go on, if `next` is the sequence of its first request.
    pub(super) fn end(&self, next: u64) -> LogEnd {
        LogEnd {
            next,
            last_file: (self.first < next).then_some(self.first),
        }
    }
}

/// Replaces a file by a fresh one that holds its requests before `next` and nothing else.
fn rewrite(settings: &LogSettings, first: u64, next: u64) -> Result<()> {
    let (vfs, path) = (&*settings.vfs, file_path(&settings.dir, first));
    let bytes = vfs.read(&path).map_err(StoreError::io("read", &path))?;
    let Some(requests) = record::requests(&bytes, first, next) else {
        return Err(StoreError::Damaged {
            path,
            offset: 0,
            what: format!(
                "requests {first} to {} do not read back as they were written",
                next - 1
            ),
        });
    };
    let mut fresh = requests.to_vec();
    record::write_mark(&mut fresh, next);
    vfs::replace(vfs, &temporary_path(&path), &path, &fresh)
        .map_err(StoreError::io("rewrite", &path))
}
