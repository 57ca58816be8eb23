//! Files in memory, for stores whose telemetry need not outlive the process.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::folder;
use crate::vfs::{DirEntry, FileInfo, FileLock, ReadFile, RealFs, Vfs, WriteFile};

/// A file or a folder.
#[derive(Debug, Clone)]
enum Node {
    File(Content),
    Folder,
}

/// The bytes of a file. A file that is open outlives its name.
type Content = Arc<RwLock<Vec<u8>>>;

/// A file system in memory, but for the catalogue, whose file SQLite opens by itself. Clones share it. Syncing does nothing, and locks
/// always succeed: no other process has these files.
#[derive(Debug, Clone, Default)]
pub struct MemoryFs(Arc<Mutex<BTreeMap<PathBuf, Node>>>);

impl MemoryFs {
    fn file(&self, path: &Path) -> io::Result<Content> {
        match self.0.lock().get(path) {
            Some(Node::File(content)) => Ok(content.clone()),
            Some(Node::Folder) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }
}

/// Whether a path is that of the catalogue of its folder.
fn is_catalogue(path: &Path) -> bool {
    path.parent()
        .is_some_and(|root| folder::catalogue_path(root) == path)
}

fn is_in(path: &Path, folder: &Path) -> bool {
    path.parent() == Some(folder)
}

impl Vfs for MemoryFs {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        if is_catalogue(path) {
            return RealFs.create(path);
        }
        let content = Content::default();
        let mut nodes = self.0.lock();
        let folder = path.parent().and_then(|folder| nodes.get(folder));
        if !matches!(folder, Some(Node::Folder)) {
            return Err(ErrorKind::NotFound.into());
        }
        nodes.insert(path.to_owned(), Node::File(content.clone()));
        Ok(Box::new(MemoryFile(content)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadFile>> {
        Ok(Box::new(MemoryFile(self.file(path)?)))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Ok(self.file(path)?.read().clone())
    }

    fn info(&self, path: &Path) -> io::Result<Option<FileInfo>> {
        if is_catalogue(path) {
            return RealFs.info(path);
        }
        let node = self.0.lock().get(path).cloned();
        Ok(node.map(|node| match node {
            Node::File(content) => FileInfo {
                is_dir: false,
                length: content.read().len() as u64,
            },
            Node::Folder => FileInfo {
                is_dir: true,
                length: 0,
            },
        }))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let nodes = self.0.lock();
        if !matches!(nodes.get(path), Some(Node::Folder)) {
            return Err(ErrorKind::NotFound.into());
        }
        let entries = nodes.iter().filter(|(entry, _)| is_in(entry, path));
        let entry = |(entry, node): (&PathBuf, &Node)| DirEntry {
            path: entry.clone(),
            is_dir: matches!(node, Node::Folder),
        };
        Ok(entries.map(entry).collect())
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.0.lock();
        for folder in path.ancestors() {
            match nodes.get(folder) {
                Some(Node::Folder) => break,
                Some(Node::File(_)) => return Err(ErrorKind::NotADirectory.into()),
                None => drop(nodes.insert(folder.to_owned(), Node::Folder)),
            }
        }
        Ok(())
    }

    fn restrict(&self, path: &Path) -> io::Result<()> {
        if is_catalogue(path) {
            return RealFs.restrict(path);
        }
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut nodes = self.0.lock();
        let node = nodes.remove(from).ok_or(ErrorKind::NotFound)?;
        nodes.insert(to.to_owned(), node);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.0.lock();
        match nodes.remove(path) {
            Some(Node::File(_)) => Ok(()),
            Some(Node::Folder) => {
                nodes.insert(path.to_owned(), Node::Folder);
                Err(ErrorKind::IsADirectory.into())
            }
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut nodes = self.0.lock();
        if nodes.keys().any(|entry| is_in(entry, path)) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        nodes
            .remove(path)
            .map(drop)
            .ok_or(ErrorKind::NotFound.into())
    }

    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock(&self, _path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        Ok(Some(Box::new(MemoryLock)))
    }

    fn is_locked(&self, _path: &Path) -> bool {
        false
    }
}

#[derive(Debug)]
struct MemoryLock;

impl FileLock for MemoryLock {}

#[derive(Debug)]
struct MemoryFile(Content);

impl ReadFile for MemoryFile {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let content = self.0.read();
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = content
            .get(start..start.saturating_add(bytes.len()))
            .ok_or(ErrorKind::UnexpectedEof)?;
        bytes.copy_from_slice(found);
        Ok(())
    }
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteFile for MemoryFile {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0
            .write()
            .truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(())
    }
}
