//! Objects that no catalogue lists: those of a seal or a merge that was interrupted, and those that were not deleted in time.
//!
//! They are deleted when they are old and this process has seen them unlisted for a while: an object that was merged a moment ago is as old as
//! its telemetry, and other machines may read it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use parking_lot::Mutex;

use super::segments::SegmentObjects;
use super::storage::ObjectInfo;
use crate::clock::ticks;
use crate::error::Result;

/// When each object was first seen unlisted, by the clock's `elapsed`.
#[derive(Debug, Default)]
pub(crate) struct Orphans(Mutex<HashMap<String, Duration>>);

/// The times and ages of a collection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collection {
    /// The trusted time, in ticks.
    pub(crate) now: i64,
    /// The clock's `elapsed`.
    pub(crate) elapsed: Duration,
    /// The age of an object from which on it is deleted.
    pub(crate) age: Duration,
    /// How long it must have been seen unlisted.
    pub(crate) grace: Duration,
}

impl Orphans {
    /// The paths of the objects among `found` that are not listed and are old enough; the others are remembered. `listed` was read after
    /// `found`.
    pub(crate) fn due(
        &self,
        objects: &SegmentObjects,
        found: Vec<ObjectInfo>,
        listed: &HashSet<String>,
        at: Collection,
    ) -> Vec<String> {
        let retired: HashSet<String> = objects.retired().into_iter().collect();
        let is_orphan =
            |object: &ObjectInfo| !listed.contains(&object.key) && !retired.contains(&object.key);
        let orphans: Vec<ObjectInfo> = found.into_iter().filter(is_orphan).collect();
        objects.note_orphans(orphans.len());
        self.old(&orphans, at)
    }

    /// Deletes orphans; returns how many. Blocks.
    ///
    /// # Errors
    /// As [`SegmentObjects::delete`].
    pub(crate) fn delete(&self, objects: &SegmentObjects, due: Vec<String>) -> Result<usize> {
        for path in &due {
            tracing::info!(object = %objects.name_of(path), "deleting an object that no catalogue lists");
            objects.delete(path)?;
            let mut seen = self.0.lock();
            seen.remove(path);
            objects.note_orphans(seen.len());
        }
        Ok(due.len())
    }

    fn old(&self, orphans: &[ObjectInfo], at: Collection) -> Vec<String> {
        let mut seen = self.0.lock();
        let keys: HashSet<&str> = orphans.iter().map(|object| object.key.as_str()).collect();
        seen.retain(|key, _| keys.contains(key.as_str()));
        let mut due = Vec::new();
        for object in orphans {
            let first = *seen.entry(object.key.clone()).or_insert(at.elapsed);
            let is_old = object.modified <= at.now.saturating_sub(ticks(at.age));
            if is_old && at.elapsed >= first.saturating_add(at.grace) {
                due.push(object.key.clone());
            }
        }
        due
    }
}
