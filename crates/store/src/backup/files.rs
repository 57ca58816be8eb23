//! Copying and reading the files of a backup.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::FileEntry;
use crate::error::{Result, StoreError};
use crate::segment::{ChecksumWriter, Checksums};
use crate::vfs::{self, RealFs, Vfs};

/// Bytes that are read and written at once.
const CHUNK: usize = 1 << 20;

/// A file that was copied or read.
pub(super) struct Copied {
    pub(super) entry: FileEntry,
    pub(super) checksums: Checksums,
}

/// Copies files and remembers the folders whose names must be made durable.
#[derive(Default)]
pub(super) struct Copier {
    folders: BTreeSet<PathBuf>,
}

impl Copier {
    /// Copies a file as long as it is now, and syncs the copy. An earlier file of the name is replaced.
    ///
    /// # Errors
    /// [`StoreError::Io`]; its source is [`io::ErrorKind::NotFound`] if there is no such file.
    pub(super) fn copy(
        &mut self,
        from: &Path,
        to: &Path,
        progress: &dyn Fn(u64),
    ) -> Result<Copied> {
        let folder = to.parent().unwrap_or(Path::new(""));
        let source = read_chunks(from);
        let mut source = source.map_err(StoreError::io("read", from))?;
        self.create_dir(folder)?;
        let temporary = to.with_extension("tmp");
        let written = (|| {
            let mut file = RealFs.create(&temporary)?;
            let mut sums = ChecksumWriter::default();
            let mut bytes = 0;
            while let Some(chunk) = source.next()? {
                file.write_all(chunk)?;
                sums.update(chunk);
                bytes += chunk.len() as u64;
                progress(chunk.len() as u64);
            }
            file.sync()?;
            RealFs.rename(&temporary, to)?;
            Ok(copied(sums.finish(), bytes))
        })();
        written.map_err(|error: io::Error| {
            // The disk may be full: the unfinished file must not take the space that is left.
            let _ = RealFs.remove(&temporary);
            StoreError::io("copy", from)(error)
        })
    }

    /// Creates a folder, and those above it where they are missing.
    pub(super) fn create_dir(&mut self, folder: &Path) -> Result<()> {
        if self.folders.contains(folder) {
            return Ok(());
        }
        RealFs
            .create_dir(folder)
            .map_err(StoreError::io("create", folder))?;
        let above = folder.ancestors();
        self.folders.extend(above.map(Path::to_owned));
        Ok(())
    }

    /// Makes the names of the copied files durable, up to the folder `root`.
    pub(super) fn sync(&self, root: &Path) -> Result<()> {
        for folder in self.folders.iter().filter(|path| path.starts_with(root)) {
            RealFs
                .sync_dir(folder)
                .map_err(StoreError::io("sync", folder))?;
        }
        Ok(())
    }
}

/// Reads a file to its end.
pub(super) fn read(path: &Path, progress: &dyn Fn(u64)) -> io::Result<Copied> {
    let mut source = read_chunks(path)?;
    let mut sums = ChecksumWriter::default();
    let mut bytes = 0;
    while let Some(chunk) = source.next()? {
        sums.update(chunk);
        bytes += chunk.len() as u64;
        progress(chunk.len() as u64);
    }
    Ok(copied(sums.finish(), bytes))
}

fn copied(checksums: Checksums, bytes: u64) -> Copied {
    let checksum = checksums.of_file(bytes);
    Copied {
        entry: FileEntry { checksum, bytes },
        checksums,
    }
}

/// A file of which the bytes that it has now are read, though it may grow meanwhile.
struct Chunks {
    file: Box<dyn vfs::ReadFile>,
    buffer: Vec<u8>,
    offset: u64,
    length: u64,
}

fn read_chunks(path: &Path) -> io::Result<Chunks> {
    let file = RealFs.open(path)?;
    let found = RealFs.info(path)?.ok_or(io::ErrorKind::NotFound)?;
    Ok(Chunks {
        file,
        buffer: Vec::new(),
        offset: 0,
        length: found.length,
    })
}

impl Chunks {
    fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let left = self.length - self.offset;
        if left == 0 {
            return Ok(None);
        }
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK);
        self.buffer.resize(count, 0);
        self.file.read_exact_at(&mut self.buffer, self.offset)?;
        self.offset += count as u64;
        Ok(Some(&self.buffer))
    }
}

/// The files below a folder, at most `depth` folders deep and relative to it; none where there is no folder.
pub(super) fn below(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    if !exists(folder)? {
        return Ok(Vec::new());
    }
    let files = crate::quarantine::files_below(&RealFs, folder, depth)?;
    let relative = files
        .iter()
        .filter_map(|file| file.strip_prefix(folder).ok());
    Ok(relative.map(Path::to_owned).collect())
}

pub(super) fn exists(path: &Path) -> Result<bool> {
    vfs::exists(&RealFs, path).map_err(StoreError::io("read", path))
}

/// Whether there is nothing in a folder, or no folder.
pub(super) fn is_empty(folder: &Path) -> Result<bool> {
    match RealFs.list(folder) {
        Ok(entries) => Ok(entries.is_empty()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(StoreError::io("list", folder)(error)),
    }
}

/// A relative path as manifests have it.
pub(super) fn text(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
