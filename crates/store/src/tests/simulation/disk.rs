//! A disk in memory that loses power, with a page cache.
//!
//! - A write changes the page cache. A block of 512 bytes reaches the disk when the file is synced, or at any moment before, in any
//!   order.
//! - A failed sync writes some blocks and forgets that the others are dirty: a later sync succeeds and does not write them. The
//!   page cache may lose them.
//! - Creating, renaming and removing a name reaches the disk when the folder is synced, or at any moment before; each is atomic, and of
//!   those that are not durable any subset survives.
//! - A power cut leaves what reached the disk. A killed process leaves the page cache too.
//!
//! Every call counts, and one call can be made to fail. The random numbers come from one seed, so a run can be repeated.

mod inode;
mod open_files;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use self::inode::Inode;
use self::open_files::{Handle, Lock};
use crate::RealFs;
use crate::vfs::{DirEntry, FileInfo, FileLock, ReadFile, Vfs, WriteFile};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tests) enum Fault {
    /// The call fails; what it does is not done, or half of it.
    Error,
    /// The disk is full: calls that need space fail until [`Disk::heal`].
    Full,
    /// A write writes less than it was given. Other calls succeed.
    Short,
    /// The power fails in this call: before, within or after what it does.
    PowerCut,
}

/// One call, as it is recorded.
type Call = (&'static str, PathBuf, u64);

/// A change of names that is not durable yet.
#[derive(Debug, Clone)]
enum Change {
    Bind(PathBuf, u64),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

impl Change {
    fn is_in(&self, dir: &Path) -> bool {
        let below = |path: &Path| path.parent() == Some(dir);
        match self {
            Change::Bind(path, _) | Change::Remove(path) => below(path),
            Change::Rename(from, to) => below(from) || below(to),
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, u64>) {
        match self {
            Change::Bind(path, inode) => drop(names.insert(path.clone(), *inode)),
            Change::Remove(path) => drop(names.remove(path)),
            Change::Rename(from, to) => {
                if let Some(inode) = names.remove(from) {
                    names.insert(to.clone(), inode);
                }
            }
        }
    }
}

#[derive(Debug)]
struct State {
    random: StdRng,
    root: PathBuf,
    /// Files and folders by path; a folder has the inode 0.
    names: BTreeMap<PathBuf, u64>,
    durable_names: BTreeMap<PathBuf, u64>,
    changes: Vec<Change>,
    inodes: BTreeMap<u64, Inode>,
    next_inode: u64,
    locked: BTreeSet<PathBuf>,
    /// Files that a process opened before it ended are of an earlier one.
    epoch: u64,
    calls: u64,
    fault: Option<(u64, Fault)>,
    hit: bool,
    power: bool,
    full: bool,
    trace: Option<Vec<Call>>,
    /// What the commit reports that was begun.
    commit: Option<Fate>,
}

/// The disk.
#[derive(Debug, Clone)]
pub(in crate::tests) struct Disk(Arc<Mutex<State>>);

impl Disk {
    pub(in crate::tests) fn new(root: &Path, seed: u64) -> Disk {
        let names = BTreeMap::from([(root.to_owned(), 0)]);
        Disk(Arc::new(Mutex::new(State {
            random: StdRng::seed_from_u64(seed),
            root: root.to_owned(),
            durable_names: names.clone(),
            names,
            changes: Vec::new(),
            inodes: BTreeMap::new(),
            next_inode: 1,
            locked: BTreeSet::new(),
            epoch: 0,
            calls: 0,
            fault: None,
            hit: false,
            power: true,
            full: false,
            trace: None,
            commit: None,
        })))
    }

    /// Records calls from now on.
    pub(in crate::tests) fn record(&self) {
        self.0.lock().trace = Some(Vec::new());
    }

    /// The calls so far. Names are replaced by the order in which they came up, because segments have random ones.
    pub(in crate::tests) fn trace(&self) -> Vec<(&'static str, usize, u64)> {
        let calls = self.0.lock().trace.clone().unwrap_or_default();
        let mut known: BTreeMap<PathBuf, usize> = BTreeMap::new();
        let number = |path: PathBuf, known: &mut BTreeMap<PathBuf, usize>| {
            let next = known.len();
            *known.entry(path).or_insert(next)
        };
        calls
            .into_iter()
            .map(|(call, path, checksum)| (call, number(path, &mut known), checksum))
            .collect()
    }

    /// How many calls were made.
    pub(in crate::tests) fn calls(&self) -> u64 {
        self.0.lock().calls
    }

    /// Lets the call fail that comes after `after` further ones.
    pub(in crate::tests) fn fail_after(&self, after: u64, fault: Fault) {
        let mut state = self.0.lock();
        state.fault = Some((state.calls + after, fault));
        state.hit = false;
    }

    /// Whether the call that was to fail was made.
    pub(in crate::tests) fn was_hit(&self) -> bool {
        self.0.lock().hit
    }

    /// Fills the disk until [`Disk::heal`].
    pub(in crate::tests) fn fill(&self) {
        let mut state = self.0.lock();
        state.full = true;
        state.hit = true;
    }

    /// The names of the files below a folder.
    pub(in crate::tests) fn files(&self, folder: &Path) -> Vec<String> {
        let state = self.0.lock();
        let files = state
            .names
            .iter()
            .filter(|(path, id)| **id != 0 && path.starts_with(folder));
        files.map(|(path, _)| path.display().to_string()).collect()
    }

    /// No further call fails, unless the power is off.
    pub(in crate::tests) fn heal(&self) {
        let mut state = self.0.lock();
        state.fault = None;
        state.full = false;
    }

    /// Whether the power is on.
    pub(in crate::tests) fn has_power(&self) -> bool {
        self.0.lock().power
    }

    /// Stops the machine: every call fails until [`Disk::start`]. What is left of the process must be dropped meanwhile.
    pub(in crate::tests) fn stop(&self) {
        self.0.lock().power = false;
    }

    /// Starts the machine again. After a power cut the page cache is gone, after the death of the process alone it is there.
    pub(in crate::tests) fn start(&self, cache_is_lost: bool) {
        let mut state = self.0.lock();
        state.epoch += 1;
        state.locked.clear();
        state.fault = None;
        state.full = false;
        if cache_is_lost {
            state.lose_cache();
        }
        state.power = true;
    }
}

impl State {
    /// Counts a call and decides its fate: `Err` if it fails before it does anything.
    fn begin(&mut self, call: &'static str, path: &Path, checksum: u64) -> io::Result<Fate> {
        if !self.power {
            return Err(io::Error::other("the power is off"));
        }
        let number = self.calls;
        self.calls += 1;
        if let Some(trace) = &mut self.trace {
            trace.push((call, path.to_owned(), checksum));
        }
        self.write_back();
        let needs_space = matches!(call, "write" | "create" | "create_dir" | "commit");
        let fault = self.fault.filter(|(at, _)| *at == number);
        if let Some((_, fault)) = fault {
            self.hit = true;
            match fault {
                Fault::Full => self.full = true,
                Fault::Error => {
                    return if self.random.random() {
                        Err(io::Error::other("the disk failed"))
                    } else {
                        Ok(Fate::HalfDone)
                    };
                }
                Fault::Short => return Ok(Fate::Short),
                Fault::PowerCut => {
                    self.power = false;
                    return match self.random.random_range(0..3) {
                        0 => Err(io::Error::other("the power failed")),
                        1 => Ok(Fate::HalfDone),
                        _ => Ok(Fate::DoneThenError),
                    };
                }
            }
        }
        if self.full && needs_space {
            if call == "write" && self.random.random() {
                return Ok(Fate::HalfDone);
            }
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(Fate::Done)
    }

    /// The system writes some dirty blocks of some file on its own.
    fn write_back(&mut self) {
        if !self.random.random_ratio(1, 4) {
            return;
        }
        let dirty: Vec<u64> = self
            .inodes
            .iter()
            .filter(|(_, inode)| inode.is_dirty())
            .map(|(id, _)| *id)
            .collect();
        if let Some(id) = dirty.get(self.random.random_range(0..dirty.len().max(1)))
            && let Some(inode) = self.inodes.get_mut(id)
        {
            inode.write_some(&mut self.random, true);
        }
    }

    /// What a power cut leaves.
    fn lose_cache(&mut self) {
        for inode in self.inodes.values_mut() {
            inode.write_some(&mut self.random, false);
            inode.cache = inode.disk.clone();
            inode.dirty.clear();
            inode.length_dirty = false;
        }
        let all = self.random.random_ratio(1, 3);
        for change in std::mem::take(&mut self.changes) {
            if all || self.random.random() {
                change.apply(&mut self.durable_names);
            }
        }
        // Parents sort before what is in them. A file whose folder is gone is gone.
        let mut names: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for (path, id) in &self.durable_names {
            let parent = path.parent().and_then(|parent| names.get(parent));
            if *path == self.root || parent == Some(&0) {
                names.insert(path.clone(), *id);
            }
        }
        self.names = names.clone();
        self.durable_names = names;
        let used: BTreeSet<u64> = self.names.values().copied().collect();
        self.inodes.retain(|id, _| used.contains(id));
    }

    fn inode(&mut self, path: &Path) -> io::Result<&mut Inode> {
        let id = self.names.get(path).copied().filter(|id| *id != 0);
        id.and_then(|id| self.inodes.get_mut(&id))
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.names);
        self.changes.push(change);
    }

    fn has_folder(&self, path: &Path) -> io::Result<()> {
        let parent = path.parent().and_then(|parent| self.names.get(parent));
        if parent == Some(&0) {
            Ok(())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Done,
    /// It does a part, or all where there are no parts, and fails.
    HalfDone,
    /// It does all and fails.
    DoneThenError,
    Short,
}

impl Fate {
    fn end(self) -> io::Result<()> {
        match self {
            Fate::Done | Fate::Short => Ok(()),
            Fate::HalfDone | Fate::DoneThenError => Err(io::Error::other("the disk failed within")),
        }
    }
}

/// SQLite reads and writes the catalogue by itself: its files are the machine's.
fn is_sqlite(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with("catalogue.db"))
}

impl Vfs for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        if is_sqlite(path) {
            return RealFs.create(path);
        }
        let mut state = self.0.lock();
        let fate = state.begin("create", path, 0)?;
        state.has_folder(path)?;
        let id = match state.names.get(path).copied() {
            Some(id) => {
                state.inode(path)?.truncate(0);
                id
            }
            None => {
                let id = state.next_inode;
                state.next_inode += 1;
                state.inodes.insert(id, Inode::default());
                state.change(Change::Bind(path.to_owned(), id));
                id
            }
        };
        fate.end()?;
        Ok(Box::new(Handle {
            disk: self.clone(),
            epoch: state.epoch,
            id,
            path: path.to_owned(),
            offset: 0,
        }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadFile>> {
        let mut state = self.0.lock();
        let fate = state.begin("open", path, 0)?;
        state.inode(path)?;
        fate.end()?;
        Ok(Box::new(Handle {
            disk: self.clone(),
            epoch: state.epoch,
            id: state.names[path],
            path: path.to_owned(),
            offset: 0,
        }))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut state = self.0.lock();
        let fate = state.begin("read", path, 0)?;
        let bytes = state.inode(path)?.cache.clone();
        fate.end()?;
        Ok(bytes)
    }

    fn info(&self, path: &Path) -> io::Result<Option<FileInfo>> {
        if is_sqlite(path) {
            return RealFs.info(path);
        }
        let mut state = self.0.lock();
        let fate = state.begin("info", path, 0)?;
        let info = state.names.get(path).map(|id| FileInfo {
            is_dir: *id == 0,
            length: state
                .inodes
                .get(id)
                .map_or(0, |inode| inode.cache.len() as u64),
        });
        fate.end()?;
        Ok(info)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut state = self.0.lock();
        let fate = state.begin("list", path, 0)?;
        if state.names.get(path) != Some(&0) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let below = |(name, id): (&PathBuf, &u64)| {
            (name.parent() == Some(path)).then(|| DirEntry {
                path: name.clone(),
                is_dir: *id == 0,
            })
        };
        let entries = state.names.iter().filter_map(below).collect();
        fate.end()?;
        Ok(entries)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let call = if state.names.contains_key(path) {
            "find_dir"
        } else {
            "create_dir"
        };
        let fate = state.begin(call, path, 0)?;
        let missing: Vec<PathBuf> = path
            .ancestors()
            .take_while(|dir| !state.names.contains_key(*dir))
            .map(Path::to_owned)
            .collect();
        for dir in missing.into_iter().rev() {
            state.has_folder(&dir)?;
            state.change(Change::Bind(dir, 0));
        }
        fate.end()
    }

    fn restrict(&self, path: &Path) -> io::Result<()> {
        if is_sqlite(path) {
            return RealFs.restrict(path);
        }
        self.0.lock().begin("restrict", path, 0)?.end()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let fate = state.begin("rename", from, 0)?;
        state.inode(from)?;
        state.has_folder(to)?;
        state.change(Change::Rename(from.to_owned(), to.to_owned()));
        fate.end()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let fate = state.begin("remove", path, 0)?;
        state.inode(path)?;
        state.change(Change::Remove(path.to_owned()));
        fate.end()
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let fate = state.begin("remove_dir", path, 0)?;
        let is_inside = |name: &PathBuf| name != path && name.starts_with(path);
        if state.names.keys().any(is_inside) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        state.change(Change::Remove(path.to_owned()));
        fate.end()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let fate = state.begin("sync_dir", path, 0)?;
        let state = &mut *state;
        let mut later = Vec::new();
        for change in std::mem::take(&mut state.changes) {
            if change.is_in(path) && (fate != Fate::HalfDone || state.random.random()) {
                change.apply(&mut state.durable_names);
            } else {
                later.push(change);
            }
        }
        state.changes = later;
        fate.end()
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn FileLock>>> {
        let mut state = self.0.lock();
        let fate = state.begin("lock", path, 0)?;
        if !state.locked.insert(path.to_owned()) {
            return Ok(None);
        }
        let lock = Lock {
            disk: self.clone(),
            epoch: state.epoch,
            path: path.to_owned(),
        };
        drop(state);
        fate.end()?;
        Ok(Some(Box::new(lock)))
    }

    fn begin_commit(&self, catalogue: &Path) -> io::Result<()> {
        let mut state = self.0.lock();
        let fate = state.begin("commit", catalogue, 0)?;
        state.commit = Some(fate);
        Ok(())
    }

    fn end_commit(&self, _: &Path) -> io::Result<()> {
        let fate = self.0.lock().commit.take();
        fate.map_or(Ok(()), Fate::end)
    }

    fn is_locked(&self, path: &Path) -> bool {
        self.0.lock().locked.contains(path)
    }
}
