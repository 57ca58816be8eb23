//! The file `catalogue.generation`: how many transactions were committed. SQLite takes damage to its write-ahead file for the end of
//! it, and transactions that were committed would vanish silently.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::vfs::Vfs;

const FILE: &str = "catalogue.generation";

/// Where the file of a data folder lies.
pub(crate) fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}

/// The file of one data folder.
#[derive(Debug, Clone)]
pub(super) struct Generation {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
}

impl Generation {
    pub(super) fn of(vfs: Arc<dyn Vfs>, data_dir: &Path) -> Generation {
        Generation {
            vfs,
            path: path(data_dir),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Is called before a transaction is committed.
    pub(super) fn begin_commit(&self) -> io::Result<()> {
        self.vfs.begin_commit(&self.path)
    }

    /// Is called after a transaction was committed.
    pub(super) fn end_commit(&self) -> io::Result<()> {
        self.vfs.end_commit(&self.path)
    }

    /// A number of transactions that were committed, if the file says one; never more than there were.
    pub(super) fn read(&self) -> Option<u64> {
        let bytes = self.vfs.read(&self.path).ok()?;
        let (number, checksum) = bytes.split_first_chunk::<8>()?;
        (checksum == crc32c::crc32c(number).to_le_bytes()).then(|| u64::from_le_bytes(*number))
    }

    /// Notes that a transaction was committed. A note that is missing or old after a crash is no harm: it says less.
    pub(super) fn write(&self, generation: u64) {
        let number = generation.to_le_bytes();
        let written = (|| -> io::Result<()> {
            let mut file = self.vfs.create(&self.path)?;
            file.write_all(&[&number[..], &crc32c::crc32c(&number).to_le_bytes()].concat())
        })();
        if let Err(error) = written {
            tracing::debug!(%error, "the number of transactions could not be noted");
        }
    }
}
