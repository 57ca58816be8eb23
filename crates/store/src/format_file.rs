//! The file `format`: the version of the data folder and the identity of its store. `FORMAT.md` describes it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::store_id::StoreId;

/// The format that this program writes; see `FORMAT.md`.
pub const FORMAT_VERSION: u32 = 1;

const FORMAT_FILE: &str = "format";

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// The identity of the store; folders that older programs made have none.
    pub(crate) store: Option<StoreId>,
}

/// Reads the file; `None` where there is none.
///
/// # Errors
/// [`StoreError::NewerFormat`] for a folder of a newer program, which is left untouched; [`StoreError::Damaged`] for a
/// file that does not read back.
pub(crate) fn read(root: &Path) -> Result<Option<Format>> {
    let path = path(root);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", &path)(error)),
    };
    let damaged = |what: &str| StoreError::Damaged {
        path: path.clone(),
        offset: 0,
        what: what.to_owned(),
    };
    let mut lines = text.lines();
    let version: u32 = lines
        .next()
        .and_then(|line| line.strip_prefix("hindsight ")?.trim().parse().ok())
        .ok_or_else(|| damaged("it does not hold a format version"))?;
    if version > FORMAT_VERSION {
        return Err(StoreError::NewerFormat {
            path: root.to_owned(),
            found: version,
            supported: FORMAT_VERSION,
        });
    }
    let store = match lines.next() {
        Some(line) => {
            let id = line
                .strip_prefix("store ")
                .and_then(|id| id.trim().parse().ok());
            Some(id.ok_or_else(|| damaged("its second line does not name a store"))?)
        }
        None => None,
    };
    Ok(Some(Format { store }))
}

/// Writes the file: to a temporary one, synced, renamed, folder synced.
pub(crate) fn write(root: &Path, store: StoreId) -> Result<()> {
    let path = path(root);
    let temporary = path.with_extension("tmp");
    let text = format!("hindsight {FORMAT_VERSION}\nstore {store}\n");
    let written = (|| {
        let mut file = private(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    })();
    written.map_err(StoreError::io("write", &temporary))?;
    std::fs::rename(&temporary, &path).map_err(StoreError::io("rename", &path))?;
    File::open(root)
        .and_then(|folder| folder.sync_all())
        .map_err(StoreError::io("sync", root))
}

/// A new file that only its owner may read.
fn private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn path(root: &Path) -> PathBuf {
    root.join(FORMAT_FILE)
}
