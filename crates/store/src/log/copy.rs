//! The copy of a log that another node writes, and the records that are sent to it.
//!
//! A copy has the form of a log. Its marks say what is synced here: its records were acknowledged after that, if they were.

use std::path::Path;

use bytes::Bytes;

use super::file::{LogSettings, NotBegun, OpenFile, Outcome};
use super::files::{LogFile, count_through, file_path, files};
use super::record::{self, FILE_HEADER};
use crate::error::{Result, StoreError};
use crate::vfs::Vfs;

/// Bytes of records that are sent at once, unless one record has more.
const PART: usize = 4 << 20;

/// The copy of another node's log, while it is written.
pub(crate) struct CopyLog {
    settings: LogSettings,
    file: OpenFile,
    next: u64,
}

impl CopyLog {
    /// Begins a copy in an empty folder. Its first record has the sequence `first`. Blocks.
    pub(crate) fn begin(settings: LogSettings, first: u64) -> Result<CopyLog> {
        let file = OpenFile::begin(&settings, first).map_err(NotBegun::into_error)?;
        Ok(CopyLog {
            settings,
            file,
            next: first,
        })
    }

    /// The last record, which is durable.
    pub(crate) fn last(&self) -> u64 {
        self.next.saturating_sub(1)
    }

    /// Appends records and syncs them; returns the sequence of the last one. After an error the copy must not be extended. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if they are not the records that follow.
    pub(crate) fn append(&mut self, first: u64, records: &[u8]) -> Result<u64> {
        let path = file_path(&self.settings.dir, self.file.first);
        let last = record::last_of(records, first).filter(|_| first == self.next);
        let Some(last) = last else {
            return Err(StoreError::Damaged {
                path,
                offset: self.file.length,
                what: format!(
                    "record {} is due, and what begins with record {first} was received",
                    self.next
                ),
            });
        };
        if self.file.length >= self.settings.file_bytes && self.file.first < first {
            self.file = OpenFile::begin(&self.settings, first).map_err(NotBegun::into_error)?;
        }
        self.next = last + 1;
        let mut mark = Vec::new();
        record::write_mark(&mut mark, self.next);
        for outcome in [self.file.write(records), self.file.write_mark(&mark)] {
            match outcome {
                Outcome::Durable => {}
                Outcome::Undone(error) => return Err(StoreError::io("write", &path)(error)),
                Outcome::Unknown(reason) => return Err(StoreError::ReadOnly { reason }),
            }
        }
        Ok(last)
    }
}

impl std::fmt::Debug for CopyLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyLog").field("next", &self.next).finish()
    }
}

/// The records of a log that a copy must have, file by file.
#[derive(Debug)]
pub(crate) struct LogRecords {
    files: std::vec::IntoIter<LogFile>,
    due: u64,
    next: u64,
}

impl LogRecords {
    /// The requests after `position` and before `next`. Blocks.
    pub(crate) fn after(vfs: &dyn Vfs, dir: &Path, position: u64, next: u64) -> Result<LogRecords> {
        let mut files = files(vfs, dir).map_err(StoreError::io("list", dir))?;
        files.drain(..count_through(&files, position));
        Ok(LogRecords {
            files: files.into_iter(),
            due: position + 1,
            next,
        })
    }

    /// Requests of the next file in parts, each with the sequence of its first one; `None` after the last file. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if a request is not there: a seal may have removed its file meanwhile.
    pub(crate) fn next_file(&mut self, vfs: &dyn Vfs) -> Result<Option<Vec<(u64, Bytes)>>> {
        if self.due >= self.next {
            return Ok(None);
        }
        let Some(file) = self.files.next() else {
            return Err(self.missing(Path::new("the log")));
        };
        let bytes = vfs
            .read(&file.path)
            .map_err(StoreError::io("read", &file.path))?;
        // The next file says where the requests of this one end.
        let following = self.files.as_slice().first();
        let end = following.map_or(self.next, |following| following.first.min(self.next));
        let mut rest = bytes.get(FILE_HEADER..).unwrap_or_default();
        let mut parts: Vec<(u64, Bytes)> = Vec::new();
        let (mut first, mut part) = (self.due, Vec::new());
        while self.due < end {
            let record = record::read(rest).ok_or_else(|| self.missing(&file.path))?;
            let (request, behind) = rest.split_at_checked(record.size()).unwrap_or_default();
            rest = behind;
            if record.is_mark() || record.sequence < self.due {
                continue;
            }
            if record.sequence > self.due {
                return Err(self.missing(&file.path));
            }
            part.extend_from_slice(request);
            self.due += 1;
            if part.len() >= PART || self.due == end {
                parts.push((first, Bytes::from(std::mem::take(&mut part))));
                first = self.due;
            }
        }
        Ok(Some(parts))
    }

    fn missing(&self, path: &Path) -> StoreError {
        StoreError::Missing {
            path: path.to_owned(),
            what: format!("record {} is due", self.due),
        }
    }
}
