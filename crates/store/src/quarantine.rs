//! The quarantine: segments that the catalogue does not list are moved there, and nothing ever removes them.

use std::path::{Path, PathBuf};

use crate::error::{Result, StoreError};

/// What lies in the quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quarantine {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Counts the files below `folder`, which need not exist.
pub(crate) fn measure(folder: &Path) -> Result<Quarantine> {
    let mut found = Quarantine::default();
    if !folder.exists() {
        return Ok(found);
    }
    for path in files_below(folder, DEPTH)? {
        let metadata = std::fs::metadata(&path).map_err(StoreError::io("read", &path))?;
        found.files += 1;
        found.bytes += metadata.len();
    }
    Ok(found)
}

/// Moves a file from below `segments` to the same place below `quarantine`; says where it lies now.
pub(crate) fn set_aside(file: &Path, segments: &Path, quarantine: &Path) -> Result<PathBuf> {
    let below = file.strip_prefix(segments).unwrap_or(file);
    let target = free_name(&quarantine.join(below));
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    }
    std::fs::rename(file, &target).map_err(StoreError::io("move to the quarantine", file))?;
    Ok(target)
}

/// The path, or it with a number where a file has the name already.
fn free_name(path: &Path) -> PathBuf {
    let numbered = |number: u32| path.with_extension(format!("{number}.parquet"));
    if !path.exists() {
        return path.to_owned();
    }
    (2..)
        .map(numbered)
        .find(|candidate| !candidate.exists())
        .unwrap_or_else(|| path.to_owned())
}

/// Segments lie below an application's and a table's folder.
pub(crate) const DEPTH: usize = 2;

/// All files below `folder`, that many folders deep.
pub(crate) fn files_below(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(StoreError::io("list", folder))? {
        let entry = entry.map_err(StoreError::io("list", folder))?;
        let kind = entry.file_type().map_err(StoreError::io("list", folder))?;
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && depth > 0 {
            files.extend(files_below(&entry.path(), depth - 1)?);
        }
    }
    Ok(files)
}
