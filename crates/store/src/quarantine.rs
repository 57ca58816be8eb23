//! The quarantine: segments that the catalogue does not list are moved there, and nothing ever removes them.

use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};
use crate::vfs::{self, Vfs};

/// What lies in the quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quarantine {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Counts the files below `folder`, which need not exist.
pub(crate) fn measure(vfs: &dyn Vfs, folder: &Path) -> Result<Quarantine> {
    let mut found = Quarantine::default();
    if !vfs::exists(vfs, folder).map_err(StoreError::io("read", folder))? {
        return Ok(found);
    }
    for path in files_below(vfs, folder, DEPTH)? {
        let info = vfs.info(&path).map_err(StoreError::io("read", &path))?;
        found.files += 1;
        found.bytes += info.map_or(0, |info| info.length);
    }
    Ok(found)
}

/// Moves a file from below `segments` to the same place below `quarantine`; says where it lies now.
pub(crate) fn set_aside(
    vfs: &dyn Vfs,
    file: &Path,
    segments: &Path,
    quarantine: &Path,
) -> Result<PathBuf> {
    let below = file.strip_prefix(segments).unwrap_or(file);
    let target = free_name(vfs, &quarantine.join(below))?;
    if let Some(parent) = target.parent() {
        vfs.create_dir(parent)
            .map_err(StoreError::io("create", parent))?;
    }
    vfs.rename(file, &target)
        .map_err(StoreError::io("move to the quarantine", file))?;
    Ok(target)
}

/// The path, or it with a number where a file has the name already.
fn free_name(vfs: &dyn Vfs, path: &Path) -> Result<PathBuf> {
    let mut candidate = path.to_owned();
    let mut number = 2;
    while vfs::exists(vfs, &candidate).map_err(StoreError::io("read", &candidate))? {
        candidate = path.with_extension(format!("{number}.parquet"));
        number += 1;
    }
    Ok(candidate)
}

/// Segments lie below an application's and a table's folder.
pub(crate) const DEPTH: usize = 2;

/// All files below `folder`, that many folders deep.
pub(crate) fn files_below(vfs: &dyn Vfs, folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in vfs.list(folder).map_err(StoreError::io("list", folder))? {
        if !entry.is_dir {
            files.push(entry.path);
        } else if depth > 0 {
            files.extend(files_below(vfs, &entry.path, depth - 1)?);
        }
    }
    Ok(files)
}
