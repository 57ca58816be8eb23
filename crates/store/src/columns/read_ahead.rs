//! Downloads of the segments that a scan reads next, while it reads the current one.
//!
//! A scan of a partition reads one file after the other. Where segments are in an object store and not in the cache of the data folder, each takes a
//! round trip, and a scan of many small ones would do little but wait. The scan waits for a download that has begun, and does one itself that was
//! not begun or that failed, so what is read and which errors there are does not depend on this.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::datasource::listing::PartitionedFile;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::scanned_rows::unrestricted;
use crate::error::Result;
use crate::objects::SegmentObjectFile;
use crate::segment::Segment;

/// The most segments that are downloaded ahead for a partition.
const SEGMENTS: usize = 8;
/// The most bytes of them, if there is more than one.
const BYTES: u64 = 64 << 20;

/// The downloads of a partition's files.
#[derive(Debug, Default)]
pub(super) struct ReadAhead(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The segments that no download was begun for, in the order in which they are read.
    waiting: VecDeque<Arc<Segment>>,
    ahead: VecDeque<Download>,
    /// The download of the segment that is being read: the cache keeps a file as long as it is open.
    current: Option<Download>,
}

/// A download that has begun. It is given up when this is dropped, unless it runs already.
#[derive(Debug)]
struct Download {
    segment: i64,
    bytes: u64,
    file: JoinHandle<Result<SegmentObjectFile>>,
}

impl Drop for Download {
    fn drop(&mut self) {
        self.file.abort();
    }
}

impl ReadAhead {
    /// Of a scan that reads these files, in this order.
    pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a PartitionedFile>) -> ReadAhead {
        let segments = files.into_iter().filter_map(unrestricted);
        let waiting = segments.filter(|segment| segment.is_far()).cloned();
        let waiting = waiting.collect();
        ReadAhead(Mutex::new(State {
            waiting,
            ..State::default()
        }))
    }

    /// Says that the scan reads `segment` now, and begins to download the next ones of those that it will read.
    pub(super) fn pass(&self, segment: &Segment, is_read: impl Fn(&Segment) -> bool) {
        let mut state = self.0.lock();
        state.pass(segment.record.id);
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        while state.has_room() {
            let Some(next) = state.waiting.pop_front() else {
                return;
            };
            if next.is_far() && is_read(&next) {
                state.ahead.extend(Download::begin(&runtime, next));
            }
        }
    }
}

impl State {
    /// Partitions take files from each other, so a file may be read that is not the next one, or is another partition's.
    fn pass(&mut self, segment: i64) {
        let is_it = |waiting: &Arc<Segment>| waiting.record.id == segment;
        if let Some(place) = self.waiting.iter().position(is_it) {
            self.waiting.drain(..=place);
        }
        if let Some(place) = self.ahead.iter().position(|ahead| ahead.segment == segment) {
            self.current = self.ahead.drain(..=place).next_back();
        }
    }

    fn has_room(&self) -> bool {
        let bytes: u64 = self.ahead.iter().map(|ahead| ahead.bytes).sum();
        self.ahead.len() < SEGMENTS && bytes < BYTES
    }
}

impl Download {
    fn begin(runtime: &Handle, segment: Arc<Segment>) -> Option<Download> {
        let objects = Arc::clone(segment.objects()?);
        Some(Download {
            segment: segment.record.id,
            bytes: segment.record.bytes,
            file: runtime.spawn_blocking(move || objects.open_file(&segment.record)),
        })
    }
}
