//! Recovery: reads the log back, tells the torn end of a write from damage, and refuses damage. It changes no file.
//!
//! The last write before a crash may be torn: nobody was told that it is safe, so it is ignored. Anything else that
//! does not read back was acknowledged, and losing it silently would break the store's one promise.

use std::path::Path;

use super::files::{LogFile, count_through, file_path, files};
use super::payload::{self, Payload};
use super::record::{self, FILE_HEADER, MAGIC};
use crate::error::{Result, StoreError};
use crate::vfs::Vfs;

/// How far past the expected sequence a record is looked for behind a broken one.
const LOOK_AHEAD: u64 = 1 << 32;

/// Where the log goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogEnd {
    /// The sequence of the next request.
    pub(crate) next: u64,
    /// The last file, by the sequence of its first record, if it holds requests that no segment holds. It may hold more than
    /// the requests before `next`, and what it holds may not be durable.
    pub(crate) last_file: Option<u64>,
}

/// Reads every request after `position` and gives it to `apply`, in order.
///
/// # Errors
/// [`StoreError::Damaged`] with file and offset where acknowledged requests do not read back, [`StoreError::Missing`]
/// where a file is gone.
pub(crate) fn replay(
    vfs: &dyn Vfs,
    dir: &Path,
    position: u64,
    mut apply: impl FnMut(u64, Payload) -> Result<()>,
) -> Result<LogEnd> {
    let mut files = files(vfs, dir).map_err(StoreError::io("list", dir))?;
    // Their removal may have been interrupted, and a power failure may have brought back any of them.
    files.drain(..count_through(&files, position));
    let mut due = None;
    for (index, file) in files.iter().enumerate() {
        check_gap(file, due, position)?;
        let bytes = vfs
            .read(&file.path)
            .map_err(StoreError::io("read", &file.path))?;
        let reader = FileReader {
            path: &file.path,
            first: file.first,
            bytes: &bytes,
            end: files.get(index + 1).map(|next| next.first),
        };
        let read = reader.run(position, &mut apply)?;
        if let Some(offset) = read.torn {
            tracing::warn!(file = %file.path.display(), offset, "the torn end of the log is ignored");
        }
        due = Some(read.due);
    }
    let next = due.unwrap_or(0).max(position.saturating_add(1));
    let last_file = files.last().map(|file| file.first);
    Ok(LogEnd {
        next,
        last_file: last_file.filter(|first| *first < next && due == Some(next)),
    })
}

/// Reads the bytes of a last file, and gives every request to `apply`.
///
/// # Errors
/// [`StoreError::Damaged`] where an acknowledged request does not read back.
pub(crate) fn read_file(
    path: &Path,
    first: u64,
    bytes: &[u8],
    mut apply: impl FnMut(u64, Payload) -> Result<()>,
) -> Result<()> {
    let reader = FileReader {
        path,
        first,
        bytes,
        end: None,
    };
    reader.run(0, &mut apply).map(drop)
}

/// A file begins with the record that is due. The first one may begin earlier than what must be replayed, because
/// files are removed whole, but not later.
fn check_gap(file: &LogFile, due: Option<u64>, position: u64) -> Result<()> {
    let (fits, due) = match due {
        Some(due) => (file.first == due, due),
        None => (
            file.first <= position.saturating_add(1),
            position.saturating_add(1),
        ),
    };
    if fits {
        return Ok(());
    }
    let dir = file.path.parent().unwrap_or(Path::new(""));
    Err(StoreError::Missing {
        path: file_path(dir, due),
        what: format!(
            "the log goes on with record {} but record {due} is due",
            file.first
        ),
    })
}

/// The bytes of one file.
pub(super) struct FileReader<'a> {
    pub(super) path: &'a Path,
    /// The sequence that the file begins with.
    pub(super) first: u64,
    pub(super) bytes: &'a [u8],
    /// The sequence that the next file begins with; `None` for the last file.
    pub(super) end: Option<u64>,
}

/// A file that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileRead {
    /// The sequence that is due after it.
    pub(super) due: u64,
    /// Where bytes begin that were never acknowledged and do not read back.
    pub(super) torn: Option<usize>,
}

impl FileReader<'_> {
    /// Reads the file, and gives every request after `position` to `apply`.
    ///
    /// The beginning of the next file says what was acknowledged: every record before it, and none from it on. A sync
    /// may have failed there, and the requests were refused.
    pub(super) fn run(
        &self,
        position: u64,
        apply: &mut impl FnMut(u64, Payload) -> Result<()>,
    ) -> Result<FileRead> {
        if !self.has_header() {
            return self.without_header();
        }
        let mut offset = FILE_HEADER;
        let mut due = self.first;
        let mut torn = None;
        while self.end != Some(due)
            && let Some(rest) = self.bytes.get(offset..).filter(|rest| !rest.is_empty())
        {
            let Some(record) = record::read(rest) else {
                self.refuse_damage(offset, due)?;
                torn = Some(offset);
                break;
            };
            if record.sequence != due {
                return Err(self.damaged(
                    offset,
                    format!("record {} lies where {due} is due", record.sequence),
                ));
            }
            offset += record.size();
            if record.is_mark() {
                continue;
            }
            if due > position {
                let payload = payload::decode(record.payload).map_err(|what| {
                    self.damaged(offset, format!("record {due} cannot be read: {what}"))
                })?;
                apply(due, payload)?;
            }
            due += 1;
        }
        match self.end {
            Some(end) if due < end => Err(self.damaged(
                offset,
                format!("record {due} is missing, and a later file says that it was acknowledged"),
            )),
            _ => Ok(FileRead { due, torn }),
        }
    }

    fn has_header(&self) -> bool {
        self.bytes.get(..FILE_HEADER) == Some(record::file_header(self.first).as_slice())
    }

    /// Older programs gave a file its name before its header was durable. Such a file holds no record that anybody was
    /// told of.
    fn without_header(&self) -> Result<FileRead> {
        if self.end.is_none()
            && !self.acknowledged_behind(0, self.first)
            && !self.bytes.starts_with(&MAGIC)
        {
            return Ok(FileRead {
                due: self.first,
                torn: Some(0),
            });
        }
        Err(self.damaged(0, "the header is not that of this log file".to_owned()))
    }

    /// Refuses a record that does not read back and was acknowledged.
    fn refuse_damage(&self, offset: usize, due: u64) -> Result<()> {
        if self.end.is_some() {
            return Err(self.damaged(
                offset,
                format!("record {due} does not read back, and later files follow"),
            ));
        }
        if self.acknowledged_behind(offset, due) {
            return Err(self.damaged(
                offset,
                format!("record {due} does not read back, and a later record says that it was acknowledged"),
            ));
        }
        Ok(())
    }

    /// Whether a whole record after `offset` was written when record `due` had been acknowledged already.
    ///
    /// Records of one write may reach the disk in any order, so a whole record behind a broken one proves nothing by
    /// itself.
    fn acknowledged_behind(&self, offset: usize, due: u64) -> bool {
        (offset + 1..self.bytes.len()).any(|at| {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let sequence = rest.get(8..16).and_then(|bytes| bytes.first_chunk::<8>());
            let plausible = sequence
                .map(|bytes| u64::from_le_bytes(*bytes))
                .is_some_and(|sequence| sequence > due && sequence - due < LOOK_AHEAD);
            plausible
                && record::read(rest)
                    .and_then(|record| record.durable())
                    .is_some_and(|durable| durable >= due)
        })
    }

    fn damaged(&self, offset: usize, what: String) -> StoreError {
        StoreError::Damaged {
            path: self.path.to_owned(),
            offset: offset as u64,
            what,
        }
    }
}
