//! The few file operations that durability hangs on, behind a trait so that tests can make them fail.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A file that is being written.
pub trait WriteFile: Write + Send {
    /// Makes everything written so far survive a power failure.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the file to `length` bytes and goes on writing there.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// How the store writes the log and its segments.
pub trait Vfs: Send + Sync + std::fmt::Debug + 'static {
    /// Creates a file, emptying one that exists.
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>>;

    /// Moves a file to its final name in the same folder.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names in a folder survive a power failure.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// The machine's file system.
#[derive(Debug, Clone, Copy)]
pub struct RealFs;

impl Vfs for RealFs {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        Ok(Box::new(RealFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}

struct RealFile(File);

impl Write for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl WriteFile for RealFile {
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        use std::io::Seek;
        self.0.set_len(length)?;
        self.0.seek(io::SeekFrom::Start(length)).map(|_| ())
    }
}
