//! The file `reserve`: space that SQLite gets when the disk is full. It needs some to open a catalogue, also for reading.

use std::io;
use std::path::{Path, PathBuf};

use crate::database_error::DatabaseError;
use crate::error::StoreError;
use crate::vfs::{self, Vfs};

const FILE: &str = "reserve";
/// SQLite's shared memory has 32 KiB, and the write-ahead file of a small transaction less than 100 KiB.
const BYTES: usize = 256 << 10;
/// `SQLITE_FULL`, `SQLITE_IOERR_WRITE` and `SQLITE_IOERR_SHMSIZE`.
const FULL: [&str; 3] = ["13", "778", "4874"];

/// Whether SQLite failed because the disk may be full.
pub(crate) fn is_disk_full(error: &StoreError) -> bool {
    let StoreError::Catalogue { source, .. } = error else {
        return false;
    };
    let source = match source {
        DatabaseError::Sqlite(source) => source,
        DatabaseError::Io(error) => return error.kind() == io::ErrorKind::StorageFull,
        _ => return false,
    };
    if let sqlx::Error::Io(error) = source {
        return error.kind() == io::ErrorKind::StorageFull;
    }
    let code = source.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| FULL.contains(&code.as_ref()))
}

/// Frees the space; false if there is none.
pub(super) fn release(vfs: &dyn Vfs, data_dir: &Path) -> bool {
    vfs.remove(&path(data_dir)).is_ok()
}

/// Takes the space again where it is not taken. On a full disk that fails, and the next start tries it again.
pub(super) fn keep(vfs: &dyn Vfs, data_dir: &Path) {
    let path = path(data_dir);
    if vfs::exists(vfs, &path).unwrap_or(true) {
        return;
    }
    let written = vfs
        .create(&path)
        .and_then(|mut file| file.write_all(&[0; BYTES]));
    if written.is_err() {
        let _ = vfs.remove(&path);
    }
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}
