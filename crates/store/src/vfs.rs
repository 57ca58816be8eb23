//! Every file operation of the store, behind a trait, so that tests can simulate a disk that fails and loses power.
//!
//! SQLite reads and writes the catalogue's files by itself.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

/// A file that is being written.
pub trait WriteFile: Write + Send {
    /// Makes everything written so far survive a power failure.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the file to `length` bytes and goes on writing there.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// A file that is being read.
pub trait ReadFile: Send + Sync + std::fmt::Debug {
    /// Fills `bytes` from the file, starting at byte `offset`.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the file ends before.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;

    /// `length` bytes from byte `offset` on.
    ///
    /// # Errors
    /// As [`ReadFile::read_exact_at`].
    fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// An exclusive lock on a file. It is held until it is dropped.
pub trait FileLock: Send + Sync + std::fmt::Debug {}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// Its path.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_dir: bool,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    /// Whether it is a folder.
    pub is_dir: bool,
    /// Its length in bytes; of no meaning for a folder.
    pub length: u64,
}

/// The file operations of the store. New files and folders can be read by their owner only.
pub trait Vfs: Send + Sync + std::fmt::Debug + 'static {
    /// Creates a file, emptying one that exists.
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>>;

    /// Opens a file for reading.
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadFile>>;

    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// What is at a path; `None` if nothing is.
    fn info(&self, path: &Path) -> io::Result<Option<FileInfo>>;

    /// The entries of a folder, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Creates a folder and those above it, where they are missing.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes a file or a folder that exists readable by its owner only.
    fn restrict(&self, path: &Path) -> io::Result<()>;

    /// Moves a file, replacing one that has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a folder survive a power failure.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Creates a file where there is none, and locks it; `None` if another process or another store holds the lock.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>>;

    /// Whether another process or another store holds the lock of this file now.
    fn is_locked(&self, path: &Path) -> bool;

    /// Is called before a transaction of the catalogue is committed, which SQLite writes by itself. A simulated disk fails here.
    ///
    /// # Errors
    /// The commit fails and nothing is committed.
    fn begin_commit(&self, _catalogue: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Is called after a transaction of the catalogue was committed.
    ///
    /// # Errors
    /// The commit reports an error, though the transaction is committed.
    fn end_commit(&self, _catalogue: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file so that a crash leaves the old content or the new, whole: to `temporary`, synced, renamed, folder synced.
pub(crate) fn replace(
    vfs: &dyn Vfs,
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
) -> io::Result<()> {
    let written = (|| {
        let mut file = vfs.create(temporary)?;
        file.write_all(bytes)?;
        file.sync()
    })();
    if written.is_err() {
        // The disk may be full: the unfinished file must not take the space that is left.
        let _ = vfs.remove(temporary);
    }
    written?;
    vfs.rename(temporary, path)?;
    path.parent().map_or(Ok(()), |folder| vfs.sync_dir(folder))
}

/// Whether there is a file or a folder.
pub(crate) fn exists(vfs: &dyn Vfs, path: &Path) -> io::Result<bool> {
    Ok(vfs.info(path)?.is_some())
}

/// The length of a file; 0 if there is none or it cannot be read.
pub(crate) fn length(vfs: &dyn Vfs, path: &Path) -> u64 {
    vfs.info(path)
        .ok()
        .flatten()
        .map_or(0, |found| found.length)
}

/// The machine's file system.
#[derive(Debug, Clone, Copy)]
pub struct RealFs;

impl Vfs for RealFs {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(RealWriter(options.open(path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadFile>> {
        Ok(Box::new(RealReader(Mutex::new(File::open(path)?))))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn info(&self, path: &Path) -> io::Result<Option<FileInfo>> {
        match std::fs::metadata(path) {
            Ok(found) => Ok(Some(FileInfo {
                is_dir: found.is_dir(),
                length: found.len(),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            entries.push(DirEntry {
                path: entry.path(),
                is_dir: entry.file_type()?.is_dir(),
            });
        }
        entries.sort();
        Ok(entries)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn restrict(&self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mut permissions = std::fs::metadata(path)?.permissions();
            let private = permissions.mode() & 0o700;
            if permissions.mode() & 0o777 != private {
                permissions.set_mode(private);
                std::fs::set_permissions(path, permissions)?;
            }
        }
        #[cfg(not(unix))]
        let _ = path;
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        match try_lock_patiently(&file) {
            Ok(()) => Ok(Some(Box::new(RealLock(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn is_locked(&self, path: &Path) -> bool {
        let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else {
            return false;
        };
        // A shared lock: two programs that look at the same time must not take each other for a holder.
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

/// A program that merely looks who holds the lock takes it for an instant: that is not a holder.
fn try_lock_patiently(file: &File) -> Result<(), TryLockError> {
    for _ in 0..5 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(std::time::Duration::from_millis(20))
            }
            settled => return settled,
        }
    }
    file.try_lock()
}

/// The lock lives as long as the file is open.
#[derive(Debug)]
struct RealLock(#[expect(dead_code, reason = "dropping the file releases the lock")] File);

impl FileLock for RealLock {}

#[derive(Debug)]
struct RealReader(Mutex<File>);

impl ReadFile for RealReader {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let mut file = self.0.lock();
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }

    /// Fills no memory with zeros first: small queries would spend a twentieth of their time with it.
    fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut file = self.0.lock();
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::with_capacity(length);
        let read = (&mut *file).take(length as u64).read_to_end(&mut bytes)?;
        if read < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }
}

struct RealWriter(File);

impl Write for RealWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl WriteFile for RealWriter {
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)?;
        self.0.seek(SeekFrom::Start(length)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"0123456789").expect("it is written");
        let file = RealFs.open(&path).expect("it is opened");
        let read = |offset, length| file.read_at(offset, length).map_err(|error| error.kind());
        assert_eq!(read(2, 5), Ok(b"23456".to_vec()));
        assert_eq!(read(0, 10), Ok(b"0123456789".to_vec()));
        assert_eq!(read(10, 0), Ok(Vec::new()));
        for (offset, length) in [(5, 6), (10, 1), (11, 1)] {
            assert_eq!(read(offset, length), Err(io::ErrorKind::UnexpectedEof));
        }
    }
}
