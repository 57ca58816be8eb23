//! The copies of other nodes' logs that this node has: `copies/<origin>/<generation>/` in its data folder.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::blocking::blocking;
use crate::config::StoreConfig;
use crate::error::{Result, StoreError};
use crate::folder::Folder;
use crate::log::{CopyLog, LogSettings};
use crate::node::NodeId;
use crate::peers::CopyRequest;
use crate::vfs::{self, Vfs};

/// Where copies are, and how they are written.
#[derive(Debug, Clone)]
pub(crate) struct CopiesFolder {
    pub(crate) vfs: Arc<dyn Vfs>,
    root: PathBuf,
    dir: PathBuf,
    file_bytes: u64,
}

impl CopiesFolder {
    /// That of a store.
    pub(crate) fn of(config: &StoreConfig) -> CopiesFolder {
        CopiesFolder {
            vfs: config.vfs.clone(),
            root: config.data_dir.clone(),
            dir: Folder::copies_dir(&config.data_dir),
            file_bytes: config.log_file_bytes,
        }
    }

    /// The copies on the disk. Blocks.
    pub(crate) fn list(&self) -> Result<Vec<CopyFolder>> {
        let exists = vfs::exists(&*self.vfs, &self.dir);
        if !exists.map_err(StoreError::io("read", &self.dir))? {
            return Ok(Vec::new());
        }
        let mut copies = Vec::new();
        for (origin, path) in self.folders::<NodeId>(&self.dir)? {
            for (generation, path) in self.folders::<u64>(&path)? {
                copies.push(CopyFolder {
                    origin,
                    generation,
                    path,
                });
            }
        }
        Ok(copies)
    }

    /// The folders below one, by what their names say.
    fn folders<T: std::str::FromStr>(&self, dir: &Path) -> Result<Vec<(T, PathBuf)>> {
        let entries = self.vfs.list(dir).map_err(StoreError::io("list", dir))?;
        let named = entries.into_iter().filter(|entry| entry.is_dir);
        let named = named.filter_map(|entry| {
            let name = entry.path.file_name()?.to_str()?.parse().ok()?;
            Some((name, entry.path))
        });
        Ok(named.collect())
    }

    /// The folder of a copy.
    pub(crate) fn path_of(&self, origin: NodeId, generation: u64) -> PathBuf {
        let origin = self.dir.join(origin.to_string());
        origin.join(generation.to_string())
    }

    /// Removes a copy. Blocks.
    pub(crate) fn remove(&self, copy: &CopyFolder) -> Result<()> {
        let removed = (|| -> io::Result<()> {
            for entry in self.vfs.list(&copy.path)? {
                self.vfs.remove(&entry.path)?;
            }
            self.vfs.remove_dir(&copy.path)
        })();
        removed.map_err(StoreError::io("remove", &copy.path))?;
        if let Some(origin) = copy.path.parent() {
            // It has other copies, or goes with the last one.
            let _ = self.vfs.remove_dir(origin);
        }
        Ok(())
    }

    /// Begins a copy in a folder of its own. Blocks.
    fn begin(&self, request: &CopyRequest) -> Result<CopyLog> {
        let origin = self.dir.join(request.origin.to_string());
        let path = self.path_of(request.origin, request.generation);
        let failed = || StoreError::io("create", &path);
        let (vfs, copies) = (&*self.vfs, &self.dir);
        if vfs::exists(vfs, &path).map_err(failed())? {
            return Err(StoreError::Io {
                action: "create",
                path,
                source: io::ErrorKind::AlreadyExists.into(),
            });
        }
        vfs.create_dir(&path).map_err(failed())?;
        for dir in [&self.root, copies, &origin] {
            vfs.sync_dir(dir).map_err(failed())?;
        }
        let settings = LogSettings {
            dir: path,
            vfs: self.vfs.clone(),
            delay: Duration::ZERO,
            commit_bytes: 0,
            file_bytes: self.file_bytes,
        };
        CopyLog::begin(settings, request.first)
    }
}

/// The folder of a copy.
#[derive(Debug, Clone)]
pub(crate) struct CopyFolder {
    pub(crate) origin: NodeId,
    pub(crate) generation: u64,
    pub(crate) path: PathBuf,
}

/// The copies that are being extended. A copy that was closed, by a failure or by the end of the process, is never extended again.
#[derive(Debug)]
pub(crate) struct HeldCopies {
    open: Mutex<HashMap<NodeId, Arc<OpenCopy>>>,
    /// Whether there may be copies on the disk.
    is_used: AtomicBool,
    is_closed: AtomicBool,
}

#[derive(Debug)]
struct OpenCopy {
    generation: u64,
    /// `None`: it is closed.
    log: Mutex<Option<CopyLog>>,
}

impl Default for HeldCopies {
    fn default() -> HeldCopies {
        HeldCopies {
            open: Mutex::default(),
            is_used: AtomicBool::new(true),
            is_closed: AtomicBool::new(false),
        }
    }
}

impl HeldCopies {
    /// Begins or extends a copy; returns its last sequence, once it is durable. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if the copy is not open; failures of the disk, after which it is closed.
    pub(crate) fn take(&self, folder: &CopiesFolder, request: &CopyRequest) -> Result<u64> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        if request.records.is_empty() {
            return self.begin(folder, request);
        }
        let known = self.open.lock().get(&request.origin).cloned();
        let copy = known.filter(|copy| copy.generation == request.generation);
        let not_open = || StoreError::Missing {
            path: folder.dir.join(request.origin.to_string()),
            what: format!("the copy {} is not open", request.generation),
        };
        let copy = copy.ok_or_else(not_open)?;
        let mut log = copy.log.lock();
        let appended = match log.as_mut() {
            Some(log) => log.append(request.first, &request.records),
            None => Err(not_open()),
        };
        if appended.is_err() {
            *log = None;
        }
        appended
    }

    fn begin(&self, folder: &CopiesFolder, request: &CopyRequest) -> Result<u64> {
        // Before there are files: they are removed only once they are looked for.
        self.is_used.store(true, Ordering::Release);
        let log = folder.begin(request)?;
        let copy = OpenCopy {
            generation: request.generation,
            log: Mutex::new(Some(log)),
        };
        let mut open = self.open.lock();
        let known = open.get(&request.origin);
        if self.is_closed.load(Ordering::Acquire)
            || known.is_some_and(|known| known.generation >= request.generation)
        {
            return Err(StoreError::Closed);
        }
        open.insert(request.origin, Arc::new(copy));
        Ok(request.first.saturating_sub(1))
    }

    /// The last record of a copy that may be extended; `None` if it is closed. Blocks.
    pub(crate) fn last(&self, origin: NodeId, generation: u64) -> Option<u64> {
        let known = self.open.lock().get(&origin).cloned();
        let copy = known.filter(|copy| copy.generation == generation)?;
        copy.log.lock().as_ref().map(CopyLog::last)
    }

    /// Closes a copy: from now on nothing is added to it. Blocks.
    pub(crate) fn close(&self, copy: &CopyFolder) {
        let mut open = self.open.lock();
        let is_meant = |known: &&Arc<OpenCopy>| known.generation == copy.generation;
        if let Some(known) = open.get(&copy.origin).filter(is_meant) {
            *known.log.lock() = None;
            open.remove(&copy.origin);
        }
    }

    /// Closes all copies, and takes no others.
    pub(crate) async fn close_all(self: &Arc<HeldCopies>) -> Result<()> {
        self.is_closed.store(true, Ordering::Release);
        let copies = self.clone();
        blocking(move || {
            let open = std::mem::take(&mut *copies.open.lock());
            for copy in open.into_values() {
                *copy.log.lock() = None;
            }
            Ok(())
        })
        .await
    }

    /// The copies on the disk; none, without a look at it, while there were none before. Blocks.
    pub(crate) fn list(&self, folder: &CopiesFolder) -> Result<Vec<CopyFolder>> {
        if !self.is_used.swap(false, Ordering::AcqRel) {
            return Ok(Vec::new());
        }
        let copies = folder.list();
        // One that was begun meanwhile has noted so.
        if !copies.as_ref().is_ok_and(Vec::is_empty) {
            self.is_used.store(true, Ordering::Release);
        }
        copies
    }

    /// Whether there may be copies on the disk.
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }
}
