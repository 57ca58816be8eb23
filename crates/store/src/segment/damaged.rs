//! The damaged segments of a store: readers report them, and snapshots leave them out.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use parquet::errors::ParquetError;

use super::Segment;
use crate::error::StoreError;

/// What is wrong with each damaged segment, by its id.
pub(crate) type Damage = BTreeMap<i64, String>;

/// The damaged segments of a store.
#[derive(Debug, Default)]
pub(crate) struct DamagedSegments(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    known: Arc<Damage>,
    /// Segments that the catalogue does not say are damaged.
    unsaved: Vec<i64>,
}

impl DamagedSegments {
    /// The segments that the catalogue says are damaged.
    pub(crate) fn new(known: Damage) -> DamagedSegments {
        DamagedSegments(Mutex::new(State {
            known: Arc::new(known),
            unsaved: Vec::new(),
        }))
    }

    /// The damaged segments. The map does not change; a later report makes another one.
    pub(crate) fn known(&self) -> Arc<Damage> {
        self.0.lock().known.clone()
    }

    /// Notes that a segment cannot be read. The first report of a segment counts.
    pub(super) fn report(&self, segment: &Segment, what: &str) {
        let mut state = self.0.lock();
        let id = segment.record.id;
        if state.known.contains_key(&id) {
            return;
        }
        tracing::error!(file = %segment.path().display(), what, "a segment is damaged; queries leave it out and say so");
        Arc::make_mut(&mut state.known).insert(id, what.to_owned());
        state.unsaved.push(id);
    }

    /// Adds segments that the catalogue says are damaged, as other nodes found.
    pub(crate) fn add(&self, found: Damage) {
        let mut state = self.0.lock();
        if found.keys().any(|id| !state.known.contains_key(id)) {
            let known = Arc::make_mut(&mut state.known);
            for (id, what) in found {
                known.entry(id).or_insert(what);
            }
        }
    }

    /// Forgets segments that are gone.
    pub(crate) fn forget(&self, ids: &[i64]) {
        let mut state = self.0.lock();
        if ids.iter().any(|id| state.known.contains_key(id)) {
            Arc::make_mut(&mut state.known).retain(|id, _| !ids.contains(id));
        }
        state.unsaved.retain(|id| !ids.contains(id));
    }

    /// Reports that the catalogue does not hold yet.
    pub(crate) fn unsaved(&self) -> Vec<(i64, Option<String>)> {
        let state = self.0.lock();
        let with_damage = |id: &i64| (*id, state.known.get(id).cloned());
        state.unsaved.iter().map(with_damage).collect()
    }

    /// Notes that the catalogue holds these reports.
    pub(crate) fn saved(&self, reports: &[(i64, Option<String>)]) {
        let is_saved = |id: &i64| reports.iter().any(|(saved, _)| saved == id);
        self.0.lock().unsaved.retain(|id| !is_saved(id));
    }
}

/// The error of the system for a block of the disk that cannot be read (`EIO`).
const UNREADABLE_BLOCK: i32 = 5;

/// What is wrong with a segment whose reading failed with `error`; `None` if the failure says nothing about the file.
pub(super) fn damage_in(error: &ParquetError) -> Option<String> {
    let ParquetError::External(source) = error else {
        return None;
    };
    match source.downcast_ref::<StoreError>()? {
        StoreError::Damaged { offset, what, .. } => {
            Some(format!("damaged at byte {offset}: {what}"))
        }
        StoreError::Io { source, .. } => match source.kind() {
            std::io::ErrorKind::NotFound => Some("missing".to_owned()),
            std::io::ErrorKind::UnexpectedEof => Some("shorter than it was".to_owned()),
            _ if source.raw_os_error() == Some(UNREADABLE_BLOCK) => {
                Some(format!("unreadable: {source}"))
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::*;

    #[test]
    fn failures_of_the_disk_are_damage_and_others_are_not() {
        let found = |error: io::Error| {
            let error = StoreError::io("read", Path::new("a segment"))(error);
            damage_in(&ParquetError::External(Box::new(error)))
        };
        assert_eq!(
            found(io::ErrorKind::NotFound.into()).as_deref(),
            Some("missing")
        );
        assert_eq!(
            found(io::ErrorKind::UnexpectedEof.into()).as_deref(),
            Some("shorter than it was")
        );
        let unreadable = found(io::Error::from_raw_os_error(UNREADABLE_BLOCK));
        assert!(unreadable.is_some_and(|what| what.starts_with("unreadable: ")));
        assert_eq!(found(io::ErrorKind::PermissionDenied.into()), None);
        assert_eq!(damage_in(&ParquetError::General("other".to_owned())), None);
    }
}
