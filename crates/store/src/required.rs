//! What every row has that passes the filters of a scan, and the segments that cannot have such a row.

use std::sync::Arc;

use futures::stream::{self, StreamExt, TryStreamExt};
use hindsight_kql_types::terms::TermCondition;
use parquet::arrow::arrow_reader::RowSelection;

use crate::blocking::on_thread;
use crate::chosen_rows::ChosenRows;
use crate::error::Result;
use crate::segment::{Lookup, RowParts, Segment, SegmentAccess};

/// How many threads look into segments at once. Those that are in an object store and not in the cache take round trips.
const AT_ONCE: usize = 16;
/// How many segments of the disk one thread looks into, at least: fewer take less time than to start another thread.
const LEAST_TOGETHER: usize = 8;

/// What every row has that passes the filters of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Required {
    pub(crate) lookups: Vec<Lookup>,
    pub(crate) terms: Option<TermCondition>,
}

/// A segment that may have such a row.
struct Kept {
    /// Its place among the segments of the scan.
    place: usize,
    segment: Arc<Segment>,
    /// The rows that are read; `None` for all.
    rows: Option<RowSelection>,
}

impl Required {
    /// Leaves out segments, and rows of segments, by their Bloom filters and their indexes.
    pub(crate) async fn leave_out_others(
        &self,
        access: &Arc<SegmentAccess>,
        mut rows: ChosenRows,
    ) -> Result<ChosenRows> {
        let segments = std::mem::take(&mut rows.segments).into_iter().enumerate();
        let (far, near): (Vec<_>, Vec<_>) = segments.partition(|(_, segment)| segment.is_far());
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let together = near.len().div_ceil(processors).max(LEAST_TOGETHER);
        let parts = near.chunks(together).chain(far.chunks(1));
        let parts: Vec<Vec<(usize, Arc<Segment>)>> = parts.map(<[_]>::to_vec).collect();
        let tasks = parts.into_iter().map(|segments| {
            let (required, access) = (self.clone(), Arc::clone(access));
            on_thread(move || {
                let kept = segments.into_iter().filter_map(|(place, segment)| {
                    let rows = required.rows_of(&access, &segment)?;
                    Some(Kept {
                        place,
                        segment,
                        rows,
                    })
                });
                kept.collect::<Vec<Kept>>()
            })
        });
        let tasks = stream::iter(tasks).buffer_unordered(AT_ONCE);
        let mut kept: Vec<Kept> = tasks.try_concat().await?;
        kept.sort_unstable_by_key(|kept| kept.place);
        for Kept {
            segment,
            rows: selected,
            ..
        } in kept
        {
            if let Some(selected) = selected {
                rows.selections.add(&segment, selected);
            }
            rows.segments.push(segment);
        }
        Ok(rows)
    }

    /// The rows of a segment that are read, with `None` in it for all; `None` if none can match. Blocks.
    fn rows_of(&self, access: &SegmentAccess, segment: &Segment) -> Option<Option<RowSelection>> {
        let of_lookups = match self.lookups.as_slice() {
            [] => None,
            lookups => access.rows_with_values(segment, lookups),
        };
        if of_lookups.as_ref().is_some_and(RowParts::is_empty) {
            return None;
        }
        let terms = self.terms.as_ref();
        let of_terms = terms.and_then(|terms| access.rows_with(segment, terms));
        if of_terms.as_ref().is_some_and(RowParts::is_empty) {
            return None;
        }
        let mut parts = of_lookups.iter().chain(&of_terms);
        Some(parts.find_map(RowParts::selection))
    }
}
