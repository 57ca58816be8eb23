//! The cache of segments' files in the data folder.
//!
//! It holds at most a number of bytes: beyond it the files that were not used longest are removed, except those that are being read.
//! Readers of a file that is not there wait for one of them to load it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::error::{Result, StoreError};
use crate::quarantine::{DEPTH, files_below};
use crate::vfs::{self, ReadFile, Vfs};

/// The cache.
#[derive(Debug)]
pub(super) struct FileCache {
    vfs: Arc<dyn Vfs>,
    folder: PathBuf,
    limit: u64,
    state: Mutex<State>,
    /// A file was loaded, or could not be.
    loaded: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By path below the folder.
    files: HashMap<String, Cached>,
    /// The files by the time of their last use.
    order: BTreeMap<u64, String>,
    bytes: u64,
    clock: u64,
}

#[derive(Debug)]
enum Cached {
    /// A reader is loading it.
    Loading,
    /// It is whole.
    Whole {
        bytes: u64,
        used: u64,
        /// Shared with the readers of the file.
        pin: Pin,
    },
}

/// A file of the cache is not removed while a reader holds its pin. A file that was loaded again has another one.
type Pin = Arc<()>;

/// A file of the cache that is being read.
#[derive(Debug)]
pub(super) struct CachedFile {
    file: Box<dyn ReadFile>,
    /// `None` once the file is closed.
    pin: Option<Pin>,
    cache: Arc<FileCache>,
}

impl Drop for CachedFile {
    /// Files that are being read may exceed the limit; when they are closed, they no longer may.
    fn drop(&mut self) {
        self.pin = None;
        self.cache.evict(&mut self.cache.state.lock());
    }
}

impl ReadFile for CachedFile {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        self.file.read_at(offset, length)
    }
}

impl FileCache {
    /// The cache in a folder. Of the files in it those stay that `is_kept` accepts by path and size; the others are removed.
    pub(super) fn open(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        limit: u64,
        is_kept: impl Fn(&str, u64) -> bool,
    ) -> Result<FileCache> {
        vfs.create_dir(folder)
            .map_err(StoreError::io("create", folder))?;
        vfs.restrict(folder)
            .map_err(StoreError::io("restrict", folder))?;
        let mut state = State::default();
        for file in files_below(&*vfs, folder, DEPTH)? {
            let bytes = vfs::length(&*vfs, &file);
            match name_below(folder, &file).filter(|name| is_kept(name, bytes)) {
                Some(name) => drop(state.insert(name, bytes)),
                None => vfs.remove(&file).map_err(StoreError::io("remove", &file))?,
            }
        }
        let cache = FileCache {
            state: Mutex::new(state),
            ..FileCache::unused(vfs, folder, limit)
        };
        cache.evict(&mut cache.state.lock());
        Ok(cache)
    }

    /// A cache of which it is not known what is in its folder.
    pub(super) fn unused(vfs: Arc<dyn Vfs>, folder: &Path, limit: u64) -> FileCache {
        FileCache {
            vfs,
            folder: folder.to_owned(),
            limit,
            state: Mutex::default(),
            loaded: Condvar::new(),
        }
    }

    /// Where a file of the cache is, or would be.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Takes a file that was written to its path.
    pub(super) fn add(&self, name: &str, bytes: u64) {
        let mut state = self.state.lock();
        let _pin = state.insert(name.to_owned(), bytes);
        self.evict(&mut state);
    }

    /// Whether a file is there, or is being loaded.
    pub(super) fn has(&self, name: &str) -> bool {
        self.state.lock().files.contains_key(name)
    }

    /// Opens a file; `load` writes it to its path where it is not there, and returns its size. Readers of one file wait for the first one
    /// to load it; if that fails, each of them tries.
    pub(super) fn open_or_load(
        self: &Arc<Self>,
        name: &str,
        load: impl Fn(&Path) -> Result<u64>,
    ) -> Result<CachedFile> {
        let path = self.path(name);
        loop {
            let pin = self.pinned(name, || load(&path))?;
            match self.vfs.open(&path) {
                Ok(file) => {
                    return Ok(CachedFile {
                        file,
                        pin: Some(pin),
                        cache: Arc::clone(self),
                    });
                }
                // It was removed behind the back of the cache.
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.forget(name, &pin),
                Err(error) => return Err(StoreError::io("open", &path)(error)),
            }
        }
    }

    /// Forgets a file whose content is wrong, if it is still the one that was read.
    pub(super) fn forget_file(&self, name: &str, wrong: &CachedFile) {
        if let Some(pin) = &wrong.pin {
            self.forget(name, pin);
        }
    }

    fn forget(&self, name: &str, pin: &Pin) {
        let mut state = self.state.lock();
        if let Some(Cached::Whole { pin: current, .. }) = state.files.get(name)
            && Arc::ptr_eq(current, pin)
        {
            state.remove(name);
        }
    }

    /// Removes a file that nothing will read.
    pub(super) fn remove(&self, name: &str) {
        self.state.lock().remove(name);
        let path = self.path(name);
        match self.vfs.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // The next opening removes it.
                tracing::warn!(file = %path.display(), %error, "a file of the cache could not be removed");
            }
            _ => {}
        }
    }

    /// Files in the cache, and their bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.order.len() as u64, state.bytes)
    }

    fn pinned(&self, name: &str, load: impl FnOnce() -> Result<u64>) -> Result<Pin> {
        let mut state = self.state.lock();
        loop {
            if let Some(pin) = state.touch(name) {
                return Ok(pin);
            }
            if !state.files.contains_key(name) {
                break;
            }
            self.loaded.wait(&mut state);
        }
        state.files.insert(name.to_owned(), Cached::Loading);
        drop(state);
        // Also if `load` panics: the readers that wait must not wait for ever.
        let loading = Loading { cache: self, name };
        let bytes = load()?;
        let mut state = self.state.lock();
        let pin = state.insert(name.to_owned(), bytes);
        self.evict(&mut state);
        drop(state);
        drop(loading);
        Ok(pin)
    }

    /// Removes the files that were not used longest, until the others fit. Those that are being read stay.
    fn evict(&self, state: &mut State) {
        if state.bytes <= self.limit {
            return;
        }
        let oldest_first: Vec<String> = state.order.values().cloned().collect();
        for name in oldest_first {
            if state.bytes <= self.limit {
                return;
            }
            let is_read = match state.files.get(&name) {
                Some(Cached::Whole { pin, .. }) => Arc::strong_count(pin) > 1,
                _ => true,
            };
            let path = self.path(&name);
            if !is_read && self.vfs.remove(&path).is_ok() {
                state.remove(&name);
            }
        }
    }
}

/// Ends the loading of a file, whatever came of it.
struct Loading<'a> {
    cache: &'a FileCache,
    name: &'a str,
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let mut state = self.cache.state.lock();
        if matches!(state.files.get(self.name), Some(Cached::Loading)) {
            state.files.remove(self.name);
        }
        drop(state);
        self.cache.loaded.notify_all();
    }
}

impl State {
    fn insert(&mut self, name: String, bytes: u64) -> Pin {
        self.remove(&name);
        self.clock += 1;
        let pin = Pin::default();
        self.bytes += bytes;
        self.order.insert(self.clock, name.clone());
        let cached = Cached::Whole {
            bytes,
            used: self.clock,
            pin: pin.clone(),
        };
        self.files.insert(name, cached);
        pin
    }

    /// The pin of a file that is there, which is the one that was used last now.
    fn touch(&mut self, name: &str) -> Option<Pin> {
        let Some(Cached::Whole { used, pin, .. }) = self.files.get_mut(name) else {
            return None;
        };
        self.clock += 1;
        self.order.remove(used);
        self.order.insert(self.clock, name.to_owned());
        *used = self.clock;
        Some(pin.clone())
    }

    fn remove(&mut self, name: &str) {
        if let Some(Cached::Whole { bytes, used, .. }) = self.files.get(name) {
            self.bytes -= bytes;
            self.order.remove(used);
            self.files.remove(name);
        }
    }
}

/// The path of a file below a folder, with `/`.
fn name_below(folder: &Path, file: &Path) -> Option<String> {
    let below = file.strip_prefix(folder).ok()?;
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::RealFs;

    fn cache(folder: &Path, limit: u64) -> Arc<FileCache> {
        Arc::new(FileCache::open(Arc::new(RealFs), folder, limit, |_, _| true).unwrap())
    }

    /// Writes a file of `bytes` bytes and counts that it was asked to.
    fn load(loads: &AtomicUsize, bytes: usize) -> impl Fn(&Path) -> Result<u64> {
        move |path| {
            loads.fetch_add(1, Ordering::Relaxed);
            RealFs.create_dir(path.parent().unwrap()).unwrap();
            RealFs
                .create(path)
                .unwrap()
                .write_all(&vec![7; bytes])
                .unwrap();
            Ok(bytes as u64)
        }
    }

    #[test]
    fn the_files_that_were_not_used_longest_go_unless_they_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), 25);
        let loads = AtomicUsize::new(0);
        for name in ["a/t/1", "a/t/2"] {
            cache.open_or_load(name, load(&loads, 10)).unwrap();
        }
        let read = cache.open_or_load("a/t/1", load(&loads, 10)).unwrap();
        cache.open_or_load("a/t/2", load(&loads, 10)).unwrap();
        assert_eq!(loads.load(Ordering::Relaxed), 2);
        cache.open_or_load("a/t/3", load(&loads, 10)).unwrap();
        // The first one was used before the second one, but a reader has it.
        let there = |name: &str| dir.path().join(name).exists();
        assert_eq!(["a/t/1", "a/t/2", "a/t/3"].map(there), [true, false, true]);
        assert_eq!((cache.size(), loads.load(Ordering::Relaxed)), ((2, 20), 3));
        drop(read);
        cache.open_or_load("a/t/4", load(&loads, 10)).unwrap();
        assert_eq!(["a/t/1", "a/t/3", "a/t/4"].map(there), [false, true, true]);
    }

    #[test]
    fn files_beyond_the_limit_go_when_they_are_closed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), 25);
        let loads = AtomicUsize::new(0);
        let names = ["a/t/1", "a/t/2", "a/t/3", "a/t/4"];
        let open = |name| cache.open_or_load(name, load(&loads, 10)).unwrap();
        let mut files: Vec<CachedFile> = names.into_iter().map(open).collect();
        assert_eq!(cache.size(), (4, 40), "all are read");
        files.remove(1);
        assert_eq!(cache.size(), (3, 30));
        files.remove(0);
        assert_eq!(cache.size(), (2, 20));
        files.clear();
        assert_eq!(cache.size(), (2, 20));
    }

    #[test]
    fn readers_of_one_file_load_it_once() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), 100);
        let loads = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let slow = |path: &Path| {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        load(&loads, 10)(path)
                    };
                    let file = cache.open_or_load("a/t/1", slow).unwrap();
                    let mut bytes = [0; 10];
                    file.read_exact_at(&mut bytes, 0).unwrap();
                    assert_eq!(bytes, [7; 10]);
                });
            }
        });
        assert_eq!(loads.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_file_that_could_not_be_loaded_is_loaded_by_the_next_reader() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path(), 100);
        let fail = |_: &Path| Err(StoreError::Closed);
        assert!(cache.open_or_load("a/t/1", fail).is_err());
        let loads = AtomicUsize::new(0);
        let file = cache.open_or_load("a/t/1", load(&loads, 10)).unwrap();
        // Its content is wrong: the next reader loads it again, and only once.
        cache.forget_file("a/t/1", &file);
        cache.open_or_load("a/t/1", load(&loads, 10)).unwrap();
        cache.forget_file("a/t/1", &file);
        cache.open_or_load("a/t/1", load(&loads, 10)).unwrap();
        assert_eq!(loads.load(Ordering::Relaxed), 2);
        // It was removed by hand.
        std::fs::remove_file(dir.path().join("a/t/1")).unwrap();
        cache.open_or_load("a/t/1", load(&loads, 10)).unwrap();
        assert_eq!(loads.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn opening_keeps_the_files_that_are_known_and_removes_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let loads = AtomicUsize::new(0);
        for name in ["a/t/1", "a/t/2", "a/t/3.tmp"] {
            load(&loads, 10)(&dir.path().join(name)).unwrap();
        }
        let is_kept = |name: &str, bytes| name == "a/t/2" && bytes == 10;
        let cache = FileCache::open(Arc::new(RealFs), dir.path(), 100, is_kept).unwrap();
        assert!(cache.has("a/t/2") && !cache.has("a/t/1"));
        assert_eq!(files_below(&RealFs, dir.path(), DEPTH).unwrap().len(), 1);
    }
}
