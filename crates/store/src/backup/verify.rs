//! Reading a backup whole and comparing it with its checksums.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::VerifyReport;
use super::files;
use super::manifest::Manifest;
use crate::blocking::blocking;
use crate::check::{Finding, Progress};
use crate::error::{Result, StoreError};

/// Reads every file of a backup and compares it with its size and checksum. Damage is reported and is no error.
///
/// # Errors
/// [`StoreError::NoBackup`] if the folder holds none, [`StoreError::Damaged`] if its manifest is damaged.
pub async fn verify_backup(backup: &Path, progress: Arc<dyn Progress>) -> Result<VerifyReport> {
    let backup = backup.to_owned();
    blocking(move || {
        let manifest = Manifest::read(&backup)?;
        verify(&backup, &manifest, &*progress)
    })
    .await
}

pub(super) fn verify(
    backup: &Path,
    manifest: &Manifest,
    progress: &dyn Progress,
) -> Result<VerifyReport> {
    progress.begin(manifest.bytes());
    let mut report = VerifyReport {
        created: manifest.created,
        sequence: manifest.sequence,
        files: 0,
        bytes: 0,
        damage: Vec::new(),
    };
    for (name, due) in &manifest.files {
        let path = backup.join(name);
        let what = match files::read(&path, &|bytes| progress.advance(bytes)) {
            Ok(read) => {
                report.files += 1;
                report.bytes += read.entry.bytes;
                let (found, bytes) = (read.entry.bytes, due.bytes);
                if found != bytes {
                    Some(format!(
                        "it has {found} bytes and the manifest says {bytes}"
                    ))
                } else if read.entry.checksum != due.checksum {
                    Some("it does not have the checksum of the manifest".to_owned())
                } else {
                    None
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some("missing".to_owned()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(StoreError::io("read", &path)(error));
            }
            // A block that the disk cannot read.
            Err(error) => Some(error.to_string()),
        };
        report
            .damage
            .extend(what.map(|what| Finding { path, what }));
    }
    Ok(report)
}
