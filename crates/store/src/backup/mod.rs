//! Backups of a data folder: created while a server runs, verified, restored.
//!
//! A backup holds the segments that the catalogue lists, a copy of the catalogue, and the log. The log is copied before the catalogue:
//! what a seal removes from the log later is in segments that the copied catalogue lists, so each item is in the backup exactly once, and
//! everything that was acknowledged before the backup began is in it. `FORMAT.md`, "Backups", describes the files.

mod create;
mod files;
mod manifest;
mod restore;
mod verify;

use std::path::PathBuf;

use crate::check::Finding;

pub use create::create_backup;
pub use restore::restore_backup;
pub use verify::verify_backup;

/// What a backup consists of, after it was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// When it was begun, in ticks.
    pub created: i64,
    /// The last request that it holds, by its sequence number in the log. It holds all earlier ones too.
    pub sequence: u64,
    /// Segments that it holds.
    pub segments: u64,
    /// Segments that an earlier backup in the same folder had copied.
    pub kept: u64,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Bytes that were copied now.
    pub copied: u64,
    /// What is damaged or missing in the data folder, and therefore in the backup.
    pub damage: Vec<Finding>,
}

/// The result of reading a backup whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyReport {
    /// When the backup was begun, in ticks.
    pub created: i64,
    /// The last request that it holds, by its sequence number in the log.
    pub sequence: u64,
    /// Files that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Files that are missing or not as they were written.
    pub damage: Vec<Finding>,
}

/// A restored data folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreReport {
    /// When the backup was begun, in ticks.
    pub created: i64,
    /// The last request that it holds, by its sequence number in the log.
    pub sequence: u64,
    /// Files that were written.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Segments that were restored though they are damaged, or that are missing.
    pub damage: Vec<Finding>,
}

/// The outcome of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// The data folder is complete.
    Done(RestoreReport),
    /// The backup is damaged, and nothing was written.
    Refused(VerifyReport),
}

/// The files and folders beside those of the store that a backup takes along, relative to the data folder.
pub type Beside<'a> = &'a [PathBuf];
