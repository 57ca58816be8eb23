//! The rows of a slice of a segment. Rows are in descending order of time, so a slice is a run of them.

use std::ops::Range;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use futures::stream::TryStreamExt;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, RowSelection};
use parquet::basic::BoundaryOrder;
use parquet::file::page_index::column_index::ColumnIndexMetaData;

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
                self.rows_of_group_from(time, index, group).await?
            };
            rows += found;
            if found < group.rows {
                break;
            }
        }
        Ok(rows)
    }

    /// How many rows of a row group are at a time or later. The times are in memory, or those of the page with the end of these rows are read.
    async fn rows_of_group_from(
        &mut self,
        time: i64,
        index: usize,
        group: &RowGroup,
    ) -> Result<usize> {
        let cached = self
            .scan
            .access
            .columns
            .get(self.segment.record.id, index, &[TIMESTAMP]);
        if let Some(CachedColumn::Plain(times)) = cached.into_iter().flatten().next().as_deref() {
            return self.rows_at_or_after(time, index, group.rows, std::slice::from_ref(times));
        }
        let rows = page_with(time, index, &self.metadata().await?).unwrap_or(0..group.rows);
        let column = self.scan.plan.table.index_of(TIMESTAMP)?;
        let selection =
            RowSelection::from_consecutive_ranges(std::iter::once(rows.clone()), group.rows);
        let columns = [column];
        let stream = self.read(index, &columns, rows.len().max(1), Some(selection));
        let batches: Vec<_> = stream.await?.try_collect().await?;
        let columns = batches.iter().map(|batch| column_of(batch, TIMESTAMP));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let found = self.rows_at_or_after(time, index, rows.len(), &columns)?;
        Ok(rows.start + found)
    }

    /// How many of `rows` consecutive rows of a row group are at a time or later. `columns` has their times.
    fn rows_at_or_after(
        &self,
        time: i64,
        index: usize,
        rows: usize,
        columns: &[ArrayRef],
    ) -> Result<usize> {
        let (mut read, mut found, mut last, mut in_order) = (0, 0, i64::MAX, true);
        let parts = columns
            .iter()
            .filter_map(|column| column.as_primitive_opt::<Int64Type>());
        for times in parts.map(|times| times.values()) {
            in_order &= times.is_sorted_by(|a, b| a >= b);
            in_order &= times.first().is_none_or(|first| *first <= last);
            found += times.partition_point(|at| *at >= time);
            read += times.len();
            last = times.last().copied().unwrap_or(last);
        }
        if read == rows && in_order {
            return Ok(found);
        }
        let path = &self.segment.record.path;
        Err(DataFusionError::Internal(format!(
            "{read} times were read for {rows} rows of row group {index} of {path}, or they are not in descending order"
        )))
    }
}

/// The rows of the page of a row group in which the rows at `time` or later end: all before it are, and none behind it. `None` if the file has no
/// index of its pages, or one that does not say that their times are in descending order.
fn page_with(time: i64, group: usize, metadata: &ArrowReaderMetadata) -> Option<Range<usize>> {
    let footer = metadata.metadata();
    let row_group = footer.row_groups().get(group)?;
    let mut columns = row_group.columns().iter();
    let column = columns.position(|column| column.column_path().string() == TIMESTAMP)?;
    let index = footer.column_index()?.get(group)?.get(column)?;
    let ColumnIndexMetaData::INT64(times) = index else {
        return None;
    };
    if index.get_boundary_order() != Some(BoundaryOrder::DESCENDING) {
        return None;
    }
    let pages = footer.offset_index()?.get(group)?.get(column)?;
    let pages = pages.page_locations();
    let rows = usize::try_from(row_group.num_rows()).ok()?;
    let first_row = |page: usize| match pages.get(page) {
        Some(page) => usize::try_from(page.first_row_index).ok(),
        None => Some(rows),
    };
    let mins = (0..pages.len()).map(|page| times.min_value(page).copied());
    let mins = mins.collect::<Option<Vec<i64>>>()?;
    let page = mins.partition_point(|min| *min >= time);
    let (start, end) = (first_row(page)?, first_row(page + 1)?);
    (start <= end && end <= rows).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::Int64Array;
    use arrow::record_batch::RecordBatch;
    use bytes::Bytes;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderOptions;
    use parquet::file::metadata::PageIndexPolicy;
    use parquet::file::properties::WriterProperties;

    use super::*;

    /// The footer of a file with these times, in row groups of twelve rows and pages of four.
    fn footer(times: &[i64], index: PageIndexPolicy) -> ArrowReaderMetadata {
        let column: ArrayRef = Arc::new(Int64Array::from(times.to_vec()));
        let rows = RecordBatch::try_from_iter([(TIMESTAMP, column)]).unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(12))
            .set_data_page_row_count_limit(4)
            .set_write_batch_size(4)
            .build();
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, rows.schema(), Some(properties)).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        let options = ArrowReaderOptions::new().with_page_index_policy(index);
        ArrowReaderMetadata::load(&Bytes::from(file), options).unwrap()
    }

    #[test]
    fn the_page_with_the_end_of_a_slice_is_found() {
        let times: Vec<i64> = (0..24).map(|row| 100 - row / 2).collect();
        let metadata = footer(&times, PageIndexPolicy::Required);
        for (group, times) in times.chunks(12).enumerate() {
            for time in times[11] + 1..=times[0] {
                let page = page_with(time, group, &metadata).expect("the file has an index");
                assert!(page.len() == 4 && page.start.is_multiple_of(4), "{page:?}");
                assert!(times[..page.start].iter().all(|at| *at >= time), "{time}");
                assert!(times[page.end..].iter().all(|at| *at < time), "{time}");
            }
        }
    }

    #[test]
    fn a_page_is_not_looked_for_without_an_index_of_times_in_order() {
        let times: Vec<i64> = (0..12).collect();
        let ascending = footer(&times, PageIndexPolicy::Required);
        assert_eq!(page_with(5, 0, &ascending), None);
        let times: Vec<i64> = (0..12).rev().collect();
        assert_eq!(
            page_with(5, 0, &footer(&times, PageIndexPolicy::Skip)),
            None
        );
        let descending = footer(&times, PageIndexPolicy::Required);
        assert_eq!(page_with(5, 0, &descending), Some(4..8));
    }
}
