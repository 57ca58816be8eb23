//! Recovery: reads the log back, cuts a torn tail, and refuses damage.
//!
//! The last write before a crash may be torn: nobody was told that it is safe, so it is cut off. Anything else that
//! does not read back was acknowledged, and losing it silently would break the store's one promise.

use std::path::Path;

use super::payload::{self, Payload};
use super::record::{self, FILE_HEADER, MAGIC};
use super::{LogFile, files};
use crate::error::{Result, StoreError};

/// How far past the expected sequence a record is looked for behind a broken one.
const LOOK_AHEAD: u64 = 1 << 32;

/// Reads every record after `position` and gives it to `apply`, in order. Returns the last sequence in the log.
///
/// # Errors
/// [`StoreError::Damaged`] with file and offset where acknowledged records do not read back, [`StoreError::Missing`]
/// where a file is gone.
pub(crate) fn replay(
    dir: &Path,
    position: u64,
    mut apply: impl FnMut(u64, Payload) -> Result<()>,
) -> Result<u64> {
    let files = files(dir).map_err(StoreError::io("list", dir))?;
    let mut due = None;
    let count = files.len();
    for (index, file) in files.iter().enumerate() {
        check_gap(file, due, position)?;
        let bytes = std::fs::read(&file.path).map_err(StoreError::io("read", &file.path))?;
        let reader = FileReader {
            file,
            bytes: &bytes,
            is_last: index + 1 == count,
        };
        due = Some(reader.run(position, &mut apply)?);
    }
    Ok(due.map_or(position, |due| position.max(due.saturating_sub(1))))
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
    Err(StoreError::Missing {
        path: file.path.with_file_name(format!("log-{due:020}.wal")),
        what: format!(
            "the log goes on with record {} but record {due} is due",
            file.first
        ),
    })
}

struct FileReader<'a> {
    file: &'a LogFile,
    bytes: &'a [u8],
    is_last: bool,
}

impl FileReader<'_> {
    /// Reads the file; returns the sequence that is due after it.
    fn run(
        &self,
        position: u64,
        apply: &mut impl FnMut(u64, Payload) -> Result<()>,
    ) -> Result<u64> {
        if !self.has_header() {
            return self.without_header();
        }
        let mut offset = FILE_HEADER;
        let mut due = self.file.first;
        while let Some(rest) = self.bytes.get(offset..).filter(|rest| !rest.is_empty()) {
            let Some(record) = record::read(rest) else {
                self.cut_or_refuse(offset, due)?;
                break;
            };
            if record.sequence != due {
                return Err(self.damaged(
                    offset,
                    format!("record {} lies where {due} is due", record.sequence),
                ));
            }
            if due > position {
                let payload = payload::decode(record.payload).map_err(|what| {
                    self.damaged(offset, format!("record {due} cannot be read: {what}"))
                })?;
                apply(due, payload)?;
            }
            offset += record.size();
            due += 1;
        }
        Ok(due)
    }

    fn has_header(&self) -> bool {
        self.bytes.get(..FILE_HEADER) == Some(record::file_header(self.file.first).as_slice())
    }

    /// A file whose creation was interrupted holds no record that anybody was told of.
    fn without_header(&self) -> Result<u64> {
        if self.is_last
            && !self.acknowledged_behind(0, self.file.first)
            && !self.bytes.starts_with(&MAGIC)
        {
            std::fs::remove_file(&self.file.path)
                .map_err(StoreError::io("remove", &self.file.path))?;
            return Ok(self.file.first);
        }
        Err(self.damaged(0, "the header is not that of this log file".to_owned()))
    }

    fn cut_or_refuse(&self, offset: usize, due: u64) -> Result<()> {
        if !self.is_last {
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
        tracing::warn!(file = %self.file.path.display(), offset, "cut the torn end of the log");
        cut(&self.file.path, offset as u64)
    }

    fn acknowledged_behind(&self, offset: usize, due: u64) -> bool {
        acknowledged_behind(self.bytes, offset, due)
    }

    fn damaged(&self, offset: usize, what: String) -> StoreError {
        StoreError::Damaged {
            path: self.file.path.clone(),
            offset: offset as u64,
            what,
        }
    }
}

fn cut(path: &Path, length: u64) -> Result<()> {
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .map_err(StoreError::io("open", path))?;
    file.set_len(length)
        .map_err(StoreError::io("truncate", path))?;
    file.sync_all().map_err(StoreError::io("sync", path))
}

/// Whether a whole record after `offset` was written when record `due` had been acknowledged already.
///
/// Records of one write may reach the disk in any order, so a whole record behind a broken one proves nothing by
/// itself.
pub(super) fn acknowledged_behind(bytes: &[u8], offset: usize, due: u64) -> bool {
    (offset + 1..bytes.len()).any(|at| {
        let rest = bytes.get(at..).unwrap_or_default();
        let sequence = rest.get(8..16).and_then(|bytes| bytes.first_chunk::<8>());
        let plausible = sequence
            .map(|bytes| u64::from_le_bytes(*bytes))
            .is_some_and(|sequence| sequence > due && sequence - due < LOOK_AHEAD);
        plausible
            && record::read(rest)
                .and_then(|record| payload::durable(record.payload))
                .is_some_and(|durable| durable >= due)
    })
}
