//! Restoring a backup to a new data folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::{self, Copier};
use super::manifest::{FileEntry, Manifest};
use super::verify::verify;
use super::{RestoreReport, Restored};
use crate::blocking::blocking;
use crate::check::{Finding, Progress};
use crate::error::{Result, StoreError};
use crate::vfs::{RealFs, Vfs};

/// Verifies a backup and copies it to the data folder `root`, which must not exist or be empty. The backup is left as it is.
///
/// The catalogue is copied last: an interrupted restore leaves a folder that no program serves. A damaged backup is refused and nothing
/// is written. With `accept_damage` damaged segments are restored as they are, and the store reports them; a damaged catalogue or log is
/// always refused.
///
/// # Errors
/// As of [`super::verify_backup`]; [`StoreError::NotEmpty`] if `root` holds anything.
pub async fn restore_backup(
    backup: &Path,
    root: &Path,
    accept_damage: bool,
    progress: Arc<dyn Progress>,
) -> Result<Restored> {
    let (backup, root) = (backup.to_owned(), root.to_owned());
    blocking(move || {
        if !files::is_empty(&root)? {
            return Err(StoreError::NotEmpty { path: root });
        }
        let manifest = Manifest::read(&backup)?;
        let verified = verify(&backup, &manifest, &*progress)?;
        let segments = backup.join("segments");
        let is_segment = |finding: &Finding| finding.path.starts_with(&segments);
        let is_accepted = accept_damage && verified.damage.iter().all(is_segment);
        if !verified.damage.is_empty() && !is_accepted {
            return Ok(Restored::Refused(verified));
        }
        let damage = verified.damage;
        restore(&backup, &root, &manifest, damage, &*progress).map(Restored::Done)
    })
    .await
}

fn restore(
    backup: &Path,
    root: &Path,
    manifest: &Manifest,
    damage: Vec<Finding>,
    progress: &dyn Progress,
) -> Result<RestoreReport> {
    let is_damaged = |path: &Path| damage.iter().any(|finding| finding.path == path);
    let mut copier = Copier::default();
    copier.create_dir(root)?;
    let lock = root.join("lock");
    let held = RealFs.lock(&lock).map_err(StoreError::io("lock", &lock))?;
    let _held = held.ok_or_else(|| StoreError::NotEmpty {
        path: root.to_owned(),
    })?;
    progress.begin(manifest.bytes());
    let state = format!("{}/", manifest.state);
    let catalogue = format!("{state}catalogue.db");
    let (last, others): (Vec<_>, Vec<_>) = manifest
        .files
        .iter()
        .partition(|(name, _)| **name == catalogue);
    let (mut written, mut bytes) = (0, 0);
    for folder in ["log", "segments"] {
        copier.create_dir(&root.join(folder))?;
    }
    for (name, due) in others.into_iter().chain(last) {
        if *name == catalogue {
            // Whatever the catalogue lists is durable before the catalogue is there.
            copier.sync(root)?;
        }
        let (from, to) = (backup.join(name), target(root, name, &state));
        if is_damaged(&from) && !files::exists(&from)? {
            continue;
        }
        let copied = copier.copy(&from, &to, &|bytes| progress.advance(bytes))?;
        if copied.entry != *due && !is_damaged(&from) {
            return Err(changed(from, due, copied.entry));
        }
        written += 1;
        bytes += copied.entry.bytes;
    }
    copier.sync(root)?;
    Ok(RestoreReport {
        created: manifest.created,
        sequence: manifest.sequence,
        files: written,
        bytes,
        damage,
    })
}

/// Where a file of the backup belongs in the data folder.
fn target(root: &Path, name: &str, state: &str) -> PathBuf {
    root.join(name.strip_prefix(state).unwrap_or(name))
}

/// The error for a file that reads otherwise than when it was verified.
fn changed(path: PathBuf, due: &FileEntry, found: FileEntry) -> StoreError {
    StoreError::Damaged {
        path,
        offset: 0,
        what: format!(
            "it changed since it was verified: {} bytes with checksum {:08x} in place of {} with {:08x}",
            found.bytes, found.checksum, due.bytes, due.checksum
        ),
    }
}
