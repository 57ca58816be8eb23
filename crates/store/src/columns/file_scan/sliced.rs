//! The rows of a slice of a segment. Rows are in descending order of time, so a slice is a run of them.

use std::ops::Range;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use futures::stream::TryStreamExt;
use parquet::arrow::arrow_reader::RowSelection;

use super::super::cache::RowGroup;
use super::super::coded::CachedColumn;
use super::super::footer_facts::row_groups;
use super::{FileScan, column_of};
use crate::schema::TIMESTAMP;
use crate::time_range::TimeRange;

impl FileScan {
    /// The rows that are scanned: those that were chosen and lie in the slice of the file. `None` for all. Row groups that are not given are read
    /// from the footer, if they are needed.
    pub(super) async fn rows_to_scan(
        &mut self,
        groups: Option<&[RowGroup]>,
    ) -> Result<Option<RowSelection>> {
        let chosen = self.chosen.clone();
        let Some(slice) = self.file.extension::<TimeRange>().copied() else {
            return Ok(chosen);
        };
        let groups = match groups {
            Some(groups) => groups.to_vec(),
            None => row_groups(&self.metadata().await?),
        };
        let rows = self.rows_of(slice, &groups).await?;
        let all = groups.iter().map(|group| group.rows).sum();
        let rows = RowSelection::from_consecutive_ranges(std::iter::once(rows), all);
        Ok(Some(match chosen {
            Some(chosen) => chosen.intersection(&rows),
            None => rows,
        }))
    }

    /// The rows of the segment at these times.
    async fn rows_of(&mut self, slice: TimeRange, groups: &[RowGroup]) -> Result<Range<usize>> {
        let first = self.rows_from(slice.to.checked_add(1), groups).await?;
        let end = self.rows_from(Some(slice.from), groups).await?;
        Ok(first..end)
    }

    /// How many rows of the segment are at a time or later; 0 for `None`, the time after all others.
    async fn rows_from(&mut self, time: Option<i64>, groups: &[RowGroup]) -> Result<usize> {
        let Some(time) = time else {
            return Ok(0);
        };
        let mut rows = 0;
        for (index, group) in groups.iter().enumerate() {
            let found = if group.min_ts >= time {
                group.rows
            } else if group.max_ts < time {
                0
            } else {
                let times = self.times(index, group).await?;
                times.partition_point(|found| *found >= time)
            };
            rows += found;
            if found < group.rows {
                break;
            }
        }
        Ok(rows)
    }

    /// The times of a row group, from memory or from the file.
    async fn times(&mut self, index: usize, group: &RowGroup) -> Result<Vec<i64>> {
        let cached = self
            .scan
            .access
            .columns
            .get(self.segment.record.id, index, &[TIMESTAMP]);
        if let Some(CachedColumn::Plain(times)) = cached.into_iter().flatten().next().as_deref() {
            return self.ticks(index, group, std::slice::from_ref(times));
        }
        let column = self.scan.plan.table.index_of(TIMESTAMP)?;
        let stream = self.read(index, &[column], group.rows.max(1), None).await?;
        let batches: Vec<_> = stream.try_collect().await?;
        let columns = batches.iter().map(|batch| column_of(batch, TIMESTAMP));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        self.ticks(index, group, &columns)
    }

    /// The values of consecutive parts of the column with the times of a row group.
    fn ticks(&self, index: usize, group: &RowGroup, columns: &[ArrayRef]) -> Result<Vec<i64>> {
        let mut ticks = Vec::with_capacity(group.rows);
        for column in columns {
            if let Some(times) = column.as_primitive_opt::<Int64Type>() {
                ticks.extend_from_slice(times.values());
            }
        }
        if ticks.len() != group.rows || !ticks.is_sorted_by(|a, b| a >= b) {
            return Err(DataFusionError::Internal(format!(
                "row group {index} of {} has {} rows, and {} times in order were read",
                self.segment.record.path,
                group.rows,
                ticks.len()
            )));
        }
        Ok(ticks)
    }
}
