//! A disk that fails or waits as a test tells it.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::RealFs;
use crate::vfs::{DirEntry, FileInfo, FileLock, ReadFile, Vfs, WriteFile};

/// A disk that can be made to fail, or to be slow.
#[derive(Debug, Default)]
pub(crate) struct BadDisk {
    /// No file can be created.
    pub(crate) write: AtomicBool,
    /// No file can be synced.
    pub(crate) sync: Arc<AtomicBool>,
    /// Nothing can be written beyond 10 bytes.
    pub(crate) full: Arc<AtomicBool>,
    /// The next file that is created waits, once it is asked for, until it is let go.
    held: Mutex<Option<Hold>>,
}

/// One creation of a file that waits.
#[derive(Debug)]
struct Hold {
    begun: oneshot::Sender<()>,
    let_go: mpsc::Receiver<()>,
}

/// The other side of a [`Hold`].
#[derive(Debug)]
pub(crate) struct Held {
    begun: oneshot::Receiver<()>,
    let_go: mpsc::Sender<()>,
}

impl Held {
    /// Waits until the creation of the file is asked for.
    pub(crate) async fn begun(&mut self) {
        (&mut self.begun).await.unwrap();
    }

    /// Lets the creation go on.
    pub(crate) fn let_go(self) {
        self.let_go.send(()).unwrap();
    }
}

impl BadDisk {
    /// Holds the next creation of a file.
    pub(crate) fn hold_next_file(&self) -> Held {
        let (begin, begun) = oneshot::channel();
        let (send, receive) = mpsc::channel();
        *self.held.lock() = Some(Hold {
            begun: begin,
            let_go: receive,
        });
        Held {
            begun,
            let_go: send,
        }
    }
}

struct BadFile {
    inner: Box<dyn WriteFile>,
    sync: Arc<AtomicBool>,
    full: Arc<AtomicBool>,
}

fn fail_if(flag: &AtomicBool, text: &str) -> io::Result<()> {
    if flag.load(Ordering::SeqCst) {
        Err(io::Error::other(text.to_owned()))
    } else {
        Ok(())
    }
}

impl Vfs for BadDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        fail_if(&self.write, "cannot create")?;
        let held = self.held.lock().take();
        if let Some(hold) = held {
            let _ = hold.begun.send(());
            // An error says that the test has ended.
            let _ = hold.let_go.recv();
        }
        Ok(Box::new(BadFile {
            inner: RealFs.create(path)?,
            sync: self.sync.clone(),
            full: self.full.clone(),
        }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadFile>> {
        RealFs.open(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealFs.read(path)
    }

    fn info(&self, path: &Path) -> io::Result<Option<FileInfo>> {
        RealFs.info(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        RealFs.list(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.create_dir(path)
    }

    fn restrict(&self, path: &Path) -> io::Result<()> {
        RealFs.restrict(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealFs.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.sync_dir(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        RealFs.lock(path)
    }

    fn is_locked(&self, path: &Path) -> bool {
        RealFs.is_locked(path)
    }
}

impl io::Write for BadFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.full.load(Ordering::SeqCst) && bytes.len() <= 10 {
            return Err(io::Error::other("disk full"));
        }
        let some = if self.full.load(Ordering::SeqCst) {
            10
        } else {
            bytes.len()
        };
        self.inner
            .write(bytes.get(..some).unwrap_or(bytes))
            .and_then(|written| {
                fail_if(&self.full, "disk full")?;
                Ok(written)
            })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for BadFile {
    fn sync(&mut self) -> io::Result<()> {
        fail_if(&self.sync, "cannot sync")?;
        self.inner.sync()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.inner.truncate(length)
    }
}
