//! Rows of a table that are chosen by number: the chunks of the memtable and the segments that have them, and which of their rows.
//!
//! The rows of a snapshot's table are numbered from 0 through its chunks and then its segments. Only a sample reads rows by
//! number, so the numbers need no meaning beyond one snapshot.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::UInt64Array;
use arrow::compute::take_record_batch;
use arrow::record_batch::RecordBatch;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};

use crate::error::Result;
use crate::segment::Segment;
use crate::view::TableRows;

/// Chooses rows by number.
pub trait RowChoice: Debug + Send + Sync {
    /// Distinct numbers below `rows` in ascending order: the rows that one scan of a table with `rows` rows returns.
    fn choose(&self, rows: u64) -> Vec<u64>;
}

/// What one scan reads.
#[derive(Debug, Default)]
pub(crate) struct ChosenRows {
    /// The chosen rows of the memtable.
    pub(crate) batches: Vec<RecordBatch>,
    /// The segments with a chosen row.
    pub(crate) segments: Vec<Arc<Segment>>,
    pub(crate) selections: Selections,
}

/// The chosen rows of segments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selections(HashMap<i64, RowSelection>);

impl Selections {
    /// The rows of a segment that are read; `None` for all.
    pub(crate) fn of(&self, segment: &Segment) -> Option<&RowSelection> {
        self.0.get(&segment.record.id)
    }

    /// Whether all segments are read whole.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Restricts the read of a segment to these rows.
    pub(crate) fn add(&mut self, segment: &Segment, rows: RowSelection) {
        self.0.insert(segment.record.id, rows);
    }
}

impl ChosenRows {
    pub(crate) fn of(rows: &TableRows, choice: &dyn RowChoice) -> Result<ChosenRows> {
        let in_chunks = rows.chunks.iter().map(|c| c.batch.num_rows() as u64);
        let in_segments = rows.segments.iter().map(|s| s.record.rows);
        let numbers = choice.choose(in_chunks.chain(in_segments).sum());
        let mut rest = Numbers {
            rest: &numbers,
            start: 0,
        };
        let mut chosen = ChosenRows::default();
        for chunk in &rows.chunks {
            let places = rest.below(chunk.batch.num_rows() as u64);
            if !places.is_empty() {
                let rows = UInt64Array::from(places);
                chosen.batches.push(take_record_batch(&chunk.batch, &rows)?);
            }
        }
        for segment in &rows.segments {
            let places = rest.below(segment.record.rows);
            if !places.is_empty() {
                let selection = selection(&places, segment.record.rows);
                chosen.selections.0.insert(segment.record.id, selection);
                chosen.segments.push(segment.clone());
            }
        }
        Ok(chosen)
    }
}

/// Numbers that are not assigned to a chunk or a segment yet.
struct Numbers<'n> {
    rest: &'n [u64],
    /// The number of the first row of the next chunk or segment.
    start: u64,
}

impl Numbers<'_> {
    /// The rows that are chosen of the next chunk or segment, which has `rows` rows.
    fn below(&mut self, rows: u64) -> Vec<u64> {
        let (start, end) = (self.start, self.start + rows);
        let count = self.rest.partition_point(|number| *number < end);
        let (own, rest) = self.rest.split_at(count);
        (self.rest, self.start) = (rest, end);
        own.iter().map(|number| number - start).collect()
    }
}

/// The rows `places` of a file with `rows` rows.
fn selection(places: &[u64], rows: u64) -> RowSelection {
    let mut selectors = Vec::with_capacity(2 * places.len() + 1);
    let mut next = 0;
    for place in places {
        selectors.push(RowSelector::skip((place - next) as usize));
        selectors.push(RowSelector::select(1));
        next = place + 1;
    }
    selectors.push(RowSelector::skip((rows - next) as usize));
    RowSelection::from(selectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_divided_among_parts_and_select_their_rows() {
        let mut numbers = Numbers {
            rest: &[0, 4, 5, 9],
            start: 0,
        };
        assert_eq!(numbers.below(5), [0, 4]);
        assert_eq!(numbers.below(0), [0; 0]);
        assert_eq!(numbers.below(5), [0, 4]);
        let read = selection(&[0, 1, 4], 6);
        let read: Vec<_> = read.iter().map(|s| (s.skip, s.row_count)).collect();
        assert_eq!(read, [(false, 2), (true, 2), (false, 1), (true, 1)]);
        assert_eq!(selection(&[5], 6).row_count(), 1);
    }
}
