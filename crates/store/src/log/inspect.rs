//! Reads the whole log and changes nothing: what a check says of it, and what a recovery can count on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::payload;
use super::record::{self, FILE_HEADER};
use super::replay::acknowledged_behind;
use super::{LogFile, files};
use crate::app_id::AppId;
use crate::batch::application;
use crate::error::{Result, StoreError};

/// What the log holds.
#[derive(Debug, Default)]
pub(crate) struct LogReport {
    /// The sequence of the first record that the files hold or would hold; `None` without files.
    pub(crate) first: Option<u64>,
    /// The sequence of the last whole record; one less than `first` if there is no record.
    pub(crate) last: u64,
    /// Whole records.
    pub(crate) records: u64,
    /// Bytes that were read.
    pub(crate) bytes: u64,
    /// Applications that records belong to, with the name and the instrumentation key that the latest of them has.
    pub(crate) apps: BTreeMap<AppId, Option<(String, Uuid)>>,
    /// Bytes at the end that were never acknowledged: the next opening truncates them.
    pub(crate) torn: Option<LogDamage>,
    /// What is wrong.
    pub(crate) damage: Vec<LogDamage>,
}

/// A place of the log that does not read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogDamage {
    pub(crate) path: PathBuf,
    pub(crate) what: String,
}

/// Reads every record.
///
/// # Errors
/// [`StoreError::Io`] where the folder or a file cannot be read.
pub(crate) fn inspect(dir: &Path) -> Result<LogReport> {
    let list = files(dir).map_err(StoreError::io("list", dir))?;
    let mut report = LogReport {
        first: list.first().map(|file| file.first),
        last: list.first().map_or(0, |file| file.first.saturating_sub(1)),
        ..LogReport::default()
    };
    for (index, file) in list.iter().enumerate() {
        let bytes = std::fs::read(&file.path).map_err(StoreError::io("read", &file.path))?;
        report.bytes += bytes.len() as u64;
        let due = report.last + 1;
        if file.first != due {
            report.note(
                file,
                format!(
                    "it begins with record {} and record {due} is due",
                    file.first
                ),
            );
            report.last = file.first.saturating_sub(1);
        }
        report.read(file, &bytes, index + 1 == list.len());
    }
    Ok(report)
}

impl LogReport {
    fn note(&mut self, file: &LogFile, what: String) {
        self.damage.push(LogDamage {
            path: file.path.clone(),
            what,
        });
    }

    fn read(&mut self, file: &LogFile, bytes: &[u8], is_last: bool) {
        let header = record::file_header(file.first);
        if bytes.get(..FILE_HEADER) != Some(header.as_slice()) {
            // The creation of the last file may have been interrupted.
            if is_last && bytes.len() <= FILE_HEADER && !bytes.starts_with(&record::MAGIC) {
                self.torn = Some(LogDamage {
                    path: file.path.clone(),
                    what: "its creation was interrupted".to_owned(),
                });
            } else {
                self.note(file, "its header is not that of this log file".to_owned());
            }
            return;
        }
        let mut offset = FILE_HEADER;
        while let Some(rest) = bytes.get(offset..).filter(|rest| !rest.is_empty()) {
            let due = self.last + 1;
            let Some(record) = record::read(rest).filter(|record| record.sequence == due) else {
                self.end(file, bytes, offset, is_last);
                return;
            };
            match payload::decode(record.payload) {
                Ok(payload) => {
                    let identity = payload
                        .batches
                        .iter()
                        .find_map(|(_, batch)| application(batch));
                    let known = self.apps.entry(payload.app).or_default();
                    *known = identity.or(known.take());
                }
                Err(what) => self.note(
                    file,
                    format!("record {due} at byte {offset} cannot be read: {what}"),
                ),
            }
            offset += record.size();
            self.last = due;
            self.records += 1;
        }
    }

    /// Notes the end of the records of a file that goes on: a torn write, or damage.
    fn end(&mut self, file: &LogFile, bytes: &[u8], offset: usize, is_last: bool) {
        let due = self.last + 1;
        let what = format!("record {due} at byte {offset} does not read back");
        if is_last && !acknowledged_behind(bytes, offset, due) {
            self.torn = Some(LogDamage {
                path: file.path.clone(),
                what,
            });
        } else {
            self.note(file, what);
        }
    }
}
