//! An object store in memory, for tests, which fails when it is asked to.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

use super::storage::{ObjectError, ObjectInfo, ObjectStorage};

/// A failure of the object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A write fails and writes nothing.
    PutBefore,
    /// A write succeeds, and its reply is lost.
    PutAfter,
    /// A read fails.
    Get,
    /// The connection of a read is lost in the middle.
    CutGet,
    /// A read returns another byte than was written.
    WrongByte,
    /// A list fails.
    List,
    /// A deletion fails.
    Delete,
}

/// An object store in memory. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryObjects(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, (Bytes, i64)>,
    faults: BTreeMap<Fault, usize>,
    gets: usize,
    /// How long a read takes.
    latency: Duration,
    /// Reads that have begun and not replied, and the most there were at once.
    reads: usize,
    most_reads: usize,
    now: i64,
    /// What happens once after the next write, before its reply.
    after_put: Option<Hook>,
}

/// What a test does while a request is under way.
struct Hook(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hook")
    }
}

impl MemoryObjects {
    /// The next `times` requests of the kind fail.
    pub(crate) fn fail(&self, fault: Fault, times: usize) {
        self.0.lock().faults.insert(fault, times);
    }

    /// Runs `hook` once, after the next object was written and before the writer knows of it.
    pub(crate) fn after_put(&self, hook: impl FnOnce() + Send + 'static) {
        self.0.lock().after_put = Some(Hook(Box::new(hook)));
    }

    /// Sets the clock of the object store.
    pub(crate) fn set_time(&self, now: i64) {
        self.0.lock().now = now;
    }

    /// The keys of all objects.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.0.lock().objects.keys().cloned().collect()
    }

    /// The keys of objects of segments.
    pub(crate) fn segments(&self) -> Vec<String> {
        let mut keys = self.keys();
        keys.retain(|key| key.contains("/segments/"));
        keys
    }

    /// How often objects were read.
    pub(crate) fn gets(&self) -> usize {
        self.0.lock().gets
    }

    /// Lets each read take this long.
    pub(crate) fn delay_reads(&self, latency: Duration) {
        self.0.lock().latency = latency;
    }

    /// The most reads there were at once.
    pub(crate) fn most_reads(&self) -> usize {
        self.0.lock().most_reads
    }

    fn wait_for_reply(&self) {
        let latency = {
            let mut state = self.0.lock();
            state.gets += 1;
            state.reads += 1;
            state.most_reads = state.most_reads.max(state.reads);
            state.latency
        };
        std::thread::sleep(latency);
        self.0.lock().reads -= 1;
    }

    /// Changes the bytes of an object.
    pub(crate) fn change(&self, key: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.0.lock();
        let object = state.objects.get_mut(key).unwrap();
        let mut bytes = object.0.to_vec();
        change(&mut bytes);
        object.0 = bytes.into();
    }

    /// Removes an object.
    pub(crate) fn lose(&self, key: &str) {
        self.0.lock().objects.remove(key).unwrap();
    }

    /// Adds an object.
    pub(crate) fn add(&self, key: &str, content: &'static [u8]) {
        let mut state = self.0.lock();
        let object = (Bytes::from_static(content), state.now);
        state.objects.insert(key.to_owned(), object);
    }

    fn is_due(&self, fault: Fault) -> bool {
        let mut state = self.0.lock();
        match state.faults.get_mut(&fault) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }
}

fn injected() -> ObjectError {
    ObjectError::Unavailable("injected".to_owned())
}

/// Content whose end cannot be read.
struct Cut(Cursor<Bytes>);

impl Read for Cut {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self.0.read(bytes)? {
            0 => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
            count => Ok(count),
        }
    }
}

impl ObjectStorage for MemoryObjects {
    fn address(&self) -> &str {
        "memory://test"
    }

    fn put_new(&self, key: &str, content: Bytes) -> Result<(), ObjectError> {
        if self.is_due(Fault::PutBefore) {
            return Err(injected());
        }
        {
            let mut state = self.0.lock();
            if state.objects.contains_key(key) {
                return Err(ObjectError::Exists);
            }
            let object = (content, state.now);
            state.objects.insert(key.to_owned(), object);
        }
        let hook = self.0.lock().after_put.take();
        if let Some(Hook(hook)) = hook {
            hook();
        }
        if self.is_due(Fault::PutAfter) {
            return Err(injected());
        }
        Ok(())
    }

    fn get(
        &self,
        key: &str,
        range: Option<Range<u64>>,
    ) -> Result<Box<dyn Read + Send>, ObjectError> {
        self.wait_for_reply();
        if self.is_due(Fault::Get) {
            return Err(injected());
        }
        let found = self.0.lock().objects.get(key).cloned();
        let (mut content, _) = found.ok_or(ObjectError::NotFound)?;
        if let Some(range) = range {
            let end = (range.end as usize).min(content.len());
            content = content.slice(range.start as usize..end);
        }
        if self.is_due(Fault::WrongByte) {
            let mut bytes = content.to_vec();
            bytes[0] ^= 1;
            content = bytes.into();
        }
        if self.is_due(Fault::CutGet) {
            return Ok(Box::new(Cut(Cursor::new(
                content.slice(..content.len() / 2),
            ))));
        }
        Ok(Box::new(Cursor::new(content)))
    }

    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, ObjectError> {
        if self.is_due(Fault::List) {
            return Err(injected());
        }
        let state = self.0.lock();
        let below = format!("{prefix}/");
        let found = state
            .objects
            .iter()
            .filter(|(key, _)| key.starts_with(&below));
        Ok(found
            .map(|(key, (content, modified))| ObjectInfo {
                key: key.clone(),
                bytes: content.len() as u64,
                modified: *modified,
            })
            .collect())
    }

    fn delete(&self, key: &str) -> Result<(), ObjectError> {
        if self.is_due(Fault::Delete) {
            return Err(injected());
        }
        self.0.lock().objects.remove(key);
        Ok(())
    }
}
