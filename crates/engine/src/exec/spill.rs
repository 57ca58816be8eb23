//! Spill files: what queries write to disk together is limited, and meeting the limit is an error of its own type.
//!
//! DataFusion 55.2 has such a limit (`max_temp_directory_size`), but reports it as an I/O error that only its text tells
//! from a full disk.

use std::error::Error;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::disk_manager::{DiskManager, DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::{SpillFile, SpillWriter, TempFileFactory};
use futures::Stream;

/// What queries spill to disk at most, as a multiple of their memory.
pub(super) const SPILL_FACTOR: u64 = 4;

/// Queries spilled as many bytes as they may.
#[derive(Debug, thiserror::Error)]
#[error("queries have spilled {limit} bytes to disk, which is the limit")]
pub(super) struct SpillLimitReached {
    limit: u64,
}

impl SpillLimitReached {
    /// Whether this error is the cause of `error`. Arrow wraps it as an I/O error of writing.
    pub(super) fn caused(error: &DataFusionError) -> bool {
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = next {
            let inner = error
                .downcast_ref::<io::Error>()
                .and_then(io::Error::get_ref);
            if inner.is_some_and(|inner| inner.is::<SpillLimitReached>()) {
                return true;
            }
            next = error.source();
        }
        false
    }
}

/// A disk manager whose files, all together, hold at most `limit` bytes. They lie in `folder`, which is emptied first: a killed
/// process leaves its files behind. Without a folder they lie in the system's temporary directory.
pub(super) fn disk_manager(limit: u64, folder: Option<&Path>) -> Result<DiskManagerBuilder> {
    let mode = match folder {
        Some(folder) => {
            empty(folder).map_err(|error| {
                DataFusionError::IoError(error).context(format!(
                    "cannot empty the folder of spill files {}",
                    folder.display()
                ))
            })?;
            DiskManagerMode::Directories(vec![folder.to_owned()])
        }
        None => DiskManagerMode::OsTmpDirectory,
    };
    let files = DiskManagerBuilder::default()
        .with_mode(mode)
        .with_max_temp_directory_size(u64::MAX)
        .build()?;
    let factory = SpillFiles {
        files: Arc::new(files),
        quota: Arc::new(Quota {
            limit,
            used: AtomicU64::new(0),
        }),
    };
    Ok(DiskManagerBuilder::default().with_mode(DiskManagerMode::Custom(Arc::new(factory))))
}

/// Removes what is in a folder, and creates it where it is missing, readable by its owner only. On a full disk it may stay missing: then
/// queries that spill fail, and the others run.
fn empty(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        return match builder.create(folder) {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
            done => done,
        };
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The bytes of all files.
struct Quota {
    limit: u64,
    used: AtomicU64,
}

struct SpillFiles {
    files: Arc<DiskManager>,
    quota: Arc<Quota>,
}

impl TempFileFactory for SpillFiles {
    fn create_temp_file(&self, description: &str) -> Result<Arc<dyn SpillFile>> {
        Ok(Arc::new(LimitedFile {
            file: self.files.create_tmp_file(description)?,
            share: Arc::new(Share {
                quota: Arc::clone(&self.quota),
                bytes: AtomicU64::new(0),
            }),
        }))
    }
}

/// The bytes of one file; they are given back to the quota with the file and its writers.
struct Share {
    quota: Arc<Quota>,
    bytes: AtomicU64,
}

impl Share {
    fn take(&self, bytes: u64) -> Result<(), SpillLimitReached> {
        let used = self.quota.used.fetch_add(bytes, Ordering::Relaxed);
        let limit = self.quota.limit;
        if used.saturating_add(bytes) > limit {
            self.quota.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(SpillLimitReached { limit });
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.quota.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

struct LimitedFile {
    file: Arc<dyn SpillFile>,
    share: Arc<Share>,
}

impl SpillFile for LimitedFile {
    fn path(&self) -> Option<&Path> {
        self.file.path()
    }

    fn size(&self) -> Option<u64> {
        self.file.size()
    }

    fn read_stream(&self) -> Result<Pin<Box<dyn Stream<Item = Result<Bytes>> + Send>>> {
        self.file.read_stream()
    }

    fn open_writer(&self) -> Result<Box<dyn SpillWriter>> {
        Ok(Box::new(LimitedWriter {
            writer: self.file.open_writer()?,
            share: Arc::clone(&self.share),
        }))
    }
}

struct LimitedWriter {
    writer: Box<dyn SpillWriter>,
    share: Arc<Share>,
}

impl Write for LimitedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.share
            .take(bytes.len() as u64)
            .map_err(io::Error::other)?;
        // The writer of the disk manager writes all of `bytes` or fails.
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl SpillWriter for LimitedWriter {
    fn finish(&mut self) -> Result<()> {
        self.writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::error::ArrowError;

    use super::*;

    #[test]
    fn all_files_share_one_limit_and_give_it_back() -> Result<()> {
        let manager = Arc::new(disk_manager(10, None)?.build()?);
        let (first, second) = (
            manager.create_tmp_file("first")?,
            manager.create_tmp_file("second")?,
        );
        let mut writer = second.open_writer()?;
        first.open_writer()?.write_all(b"123456")?;
        writer.write_all(b"1234")?;
        assert!(writer.write_all(b"1").is_err());
        drop(first);
        assert!(writer.write_all(b"123456").is_ok());
        assert_eq!(second.size(), Some(10));
        Ok(())
    }

    #[test]
    fn the_folder_is_emptied_and_holds_the_files() -> Result<()> {
        let data = tempfile::tempdir()?;
        let folder = data.path().join("spill");
        std::fs::create_dir(&folder)?;
        let left_behind = folder.join("left behind");
        std::fs::write(&left_behind, "x")?;
        let manager = Arc::new(disk_manager(10, Some(&folder))?.build()?);
        assert!(!left_behind.exists());
        let file = manager.create_tmp_file("a file")?;
        let path = file.path().map(Path::to_owned).unwrap_or_default();
        assert!(path.starts_with(&folder), "{}", path.display());
        Ok(())
    }

    #[test]
    fn the_limit_is_told_from_other_failures_of_writing() {
        let wrapped = |error: io::Error| {
            DataFusionError::from(ArrowError::from(error)).context("while spilling")
        };
        let limit = io::Error::other(SpillLimitReached { limit: 1 });
        assert!(SpillLimitReached::caused(&wrapped(limit)));
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(!SpillLimitReached::caused(&wrapped(full)));
    }
}
