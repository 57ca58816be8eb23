//! Reads the whole log and changes nothing: what a check says of it, and what a recovery can count on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::files;
use super::payload::Payload;
use super::replay::FileReader;
use crate::app_id::AppId;
use crate::batch::application;
use crate::error::{Result, StoreError};
use crate::vfs::Vfs;

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
    /// Bytes at the end that were never acknowledged: the next opening removes them.
    pub(crate) torn: Option<LogDamage>,
    /// What is wrong.
    pub(crate) damage: Vec<LogDamage>,
}

/// A place of the log that does not read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogDamage {
    pub(crate) path: PathBuf,
    pub(crate) what: String,
    /// The sequence of the next record that is not concerned; `None` if there is none.
    end: Option<u64>,
}

impl LogDamage {
    /// Whether records after this position of the catalogue are concerned.
    pub(crate) fn is_after(&self, position: u64) -> bool {
        self.end.is_none_or(|end| end > position.saturating_add(1))
    }
}

/// Reads every record, as [`super::replay`] does, and goes on with the next file where a record does not read back.
///
/// # Errors
/// [`StoreError::Io`] where the folder or a file cannot be read.
pub(crate) fn inspect(vfs: &dyn Vfs, dir: &Path) -> Result<LogReport> {
    let list = files(vfs, dir).map_err(StoreError::io("list", dir))?;
    let mut report = LogReport {
        first: list.first().map(|file| file.first),
        last: list.first().map_or(0, |file| file.first.saturating_sub(1)),
        ..LogReport::default()
    };
    // The record that the next file must begin with; unknown after damage.
    let mut due = report.first;
    for (index, file) in list.iter().enumerate() {
        let bytes = vfs
            .read(&file.path)
            .map_err(StoreError::io("read", &file.path))?;
        report.bytes += bytes.len() as u64;
        if let Some(due) = due.filter(|due| *due != file.first) {
            report.damage.push(LogDamage {
                path: file.path.clone(),
                what: format!(
                    "it begins with record {} and record {due} is due",
                    file.first
                ),
                end: Some(file.first),
            });
        }
        let reader = FileReader {
            path: &file.path,
            first: file.first,
            bytes: &bytes,
            end: list.get(index + 1).map(|next| next.first),
        };
        due = report.read(&reader)?;
    }
    Ok(report)
}

impl LogReport {
    /// Reads a file; returns the sequence that is due after it, or `None` if it is damaged.
    fn read(&mut self, file: &FileReader) -> Result<Option<u64>> {
        self.last = file.first.saturating_sub(1);
        let read = file.run(0, &mut |sequence, payload| {
            self.note(sequence, &payload);
            Ok(())
        });
        match read {
            Ok(read) => {
                self.torn = read.torn.map(|offset| LogDamage {
                    path: file.path.to_owned(),
                    what: match offset {
                        0 => "its creation was interrupted".to_owned(),
                        _ => format!("record {} at byte {offset} does not read back", read.due),
                    },
                    end: None,
                });
                Ok(Some(read.due))
            }
            Err(StoreError::Damaged { path, offset, what }) => {
                self.damage.push(LogDamage {
                    path,
                    what: format!("damaged at byte {offset}: {what}"),
                    end: file.end,
                });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Notes a request.
    fn note(&mut self, sequence: u64, payload: &Payload) {
        let identity = payload
            .batches
            .iter()
            .find_map(|(_, batch)| application(batch));
        let known = self.apps.entry(payload.app).or_default();
        *known = identity.or(known.take());
        self.last = sequence;
        self.records += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_concerns_the_records_before_its_end() {
        let damage = |end| LogDamage {
            path: PathBuf::from("log"),
            what: "it is damaged".to_owned(),
            end,
        };
        // The records up to 4 are in segments, and the next one that reads back is 5 or 6.
        assert!(!damage(Some(5)).is_after(4));
        assert!(damage(Some(6)).is_after(4));
        assert!(damage(None).is_after(4));
    }
}
