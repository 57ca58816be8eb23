//! A change of the list of segments.

use std::sync::Arc;

use crate::catalogue::SegmentRecord;
use crate::usage::Usage;
use crate::view::View;

/// A change that puts new segments in the place of other segments, or of the frozen memtable.
#[derive(Debug)]
pub(crate) enum SegmentChange {
    /// The frozen memtable of the view, which has this usage and ends at this sequence of the log, became these segments.
    Sealed(Arc<View>, Vec<SegmentRecord>, Usage, u64),
    /// These segments replace those with the ids.
    Merged(Vec<i64>, Vec<SegmentRecord>),
}

impl SegmentChange {
    /// The segments that the change adds.
    pub(crate) fn new_segments(&self) -> &[SegmentRecord] {
        match self {
            SegmentChange::Sealed(_, new, _, _) | SegmentChange::Merged(_, new) => new,
        }
    }
}
