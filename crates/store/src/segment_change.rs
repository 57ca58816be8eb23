//! A change of the list of segments.

use crate::catalogue::SegmentRecord;

/// A change that puts new segments in the place of other segments, or of the frozen memtable.
#[derive(Debug)]
pub(crate) enum SegmentChange {
    /// The frozen memtable became these segments.
    Sealed(Vec<SegmentRecord>),
    /// These segments replace those with the ids.
    Merged(Vec<i64>, Vec<SegmentRecord>),
}

impl SegmentChange {
    /// The segments that the change adds.
    pub(crate) fn new_segments(&self) -> &[SegmentRecord] {
        match self {
            SegmentChange::Sealed(new) | SegmentChange::Merged(_, new) => new,
        }
    }
}
