//! A change of the list of segments.

use std::sync::Arc;

use crate::catalogue::SegmentRecord;
use crate::view::View;

/// A change that puts new segments in the place of other segments, or of the frozen memtable.
#[derive(Debug)]
pub(crate) enum SegmentChange {
    /// The frozen memtable of the view became these segments.
    Sealed(Arc<View>, Vec<SegmentRecord>),
    /// These segments replace those with the ids.
    Merged(Vec<i64>, Vec<SegmentRecord>),
}

impl SegmentChange {
    /// The segments that the change adds.
    pub(crate) fn new_segments(&self) -> &[SegmentRecord] {
        match self {
            SegmentChange::Sealed(_, new) | SegmentChange::Merged(_, new) => new,
        }
    }
}
