//! The log: what makes an acknowledged request durable before it lies in a segment. `FORMAT.md` describes the bytes.

mod inspect;
mod payload;
mod record;
mod replay;
mod writer;

pub(crate) use inspect::{LogReport, inspect};
pub(crate) use payload::{Payload, encode_batches};
pub(crate) use replay::replay;
pub(crate) use writer::{Appended, LogSink, LogWriter, WriterSettings};

use std::path::{Path, PathBuf};

const PREFIX: &str = "log-";
const SUFFIX: &str = ".wal";

/// One file of the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LogFile {
    /// The sequence of its first record.
    pub(crate) first: u64,
    pub(crate) path: PathBuf,
}

/// The name of the file whose first record has this sequence.
fn file_path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{PREFIX}{first:020}{SUFFIX}"))
}

/// The log's files, in the order of their records.
pub(crate) fn files(dir: &Path) -> std::io::Result<Vec<LogFile>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
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

/// Removes the files whose every record is at or before `position`. The last file stays: it is being written.
pub(crate) fn remove_through(dir: &Path, position: u64) -> std::io::Result<()> {
    let files = files(dir)?;
    for pair in files.windows(2) {
        if let [file, next] = pair
            && next.first <= position.saturating_add(1)
        {
            std::fs::remove_file(&file.path)?;
        }
    }
    Ok(())
}
