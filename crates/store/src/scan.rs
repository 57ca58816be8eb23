//! The plan that reads segments.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use datafusion::common::config::TableParquetOptions;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfigBuilder, FileSource, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};

use crate::bag_leaf::StoreExprAdapterFactory;
use crate::chosen_rows::Selections;
use crate::columns::SegmentSource;
use crate::promote::PromotedColumn;
use crate::schema::TIMESTAMP;
use crate::segment::{Segment, SegmentAccess, SegmentReaders};

/// What a scan of segments reads.
pub(crate) struct SegmentScan {
    /// The table's columns and the promoted ones behind them.
    pub(crate) schema: SchemaRef,
    pub(crate) promoted: Arc<[PromotedColumn]>,
    pub(crate) access: Arc<SegmentAccess>,
    /// Files, grouped by the partition that reads them.
    pub(crate) groups: Vec<Vec<Arc<Segment>>>,
    /// The rows of files that are read; the others are read whole.
    pub(crate) selections: Selections,
    /// Rows of a segment that are read at once by a merge: a reader holds all pages of the rows that it reads, and a merge has a reader for
    /// each of its segments. Every group is in descending order of time then, the plan above sets no limit (see [`group`]), and the cache
    /// of columns is not used. `None` for a query.
    pub(crate) window: Option<usize>,
    pub(crate) projection: Option<Vec<usize>>,
    pub(crate) limit: Option<usize>,
}

impl SegmentScan {
    pub(crate) fn plan(self) -> Result<Arc<dyn ExecutionPlan>> {
        let readers = SegmentReaders {
            access: self.access.clone(),
        };
        // The cache of columns that predicates read decodes whole batches, also for a selection of few rows.
        let mut options = TableParquetOptions::default();
        options.global.max_predicate_cache_size = Some(0);
        let source = ParquetSource::new(self.schema.clone())
            .with_table_parquet_options(options)
            .with_parquet_file_reader_factory(Arc::new(readers))
            .with_enable_page_index(true)
            // Where rows are chosen, the filters were asked for the values that the conditions name (`required.rs`). Only the keys of a
            // join, which are known while it runs, could exclude more row groups.
            .with_bloom_filter_on_read(self.selections.is_empty())
            .with_reorder_filters(true)
            // Rows are dropped while a file is decoded, before its other columns are.
            .with_pushdown_filters(true);
        let all: Vec<&Segment> = self.groups.iter().flatten().map(Arc::as_ref).collect();
        let statistics = self.statistics(&all, self.schema.fields().len());
        let is_query = self.window.is_none();
        let ordering = (!is_query).then(|| newest_first(&self.schema)).flatten();
        let groups = self
            .groups
            .iter()
            .map(|group| self.file_group(group))
            .collect();
        let source: Arc<dyn FileSource> = if is_query && self.access.columns.is_on() {
            Arc::new(SegmentSource::new(
                Arc::new(source),
                self.access.clone(),
                self.promoted.clone(),
            ))
        } else {
            Arc::new(source)
        };
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_output_ordering(ordering.into_iter().collect())
            .with_expr_adapter(Some(Arc::new(StoreExprAdapterFactory::new(
                self.promoted.clone(),
            ))))
            .with_limit(self.limit)
            .with_projection_indices(self.projection)?
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }

    fn file_group(&self, segments: &[Arc<Segment>]) -> FileGroup {
        FileGroup::new(segments.iter().flat_map(|s| self.files(s)).collect())
    }

    /// A segment as the files of a plan: one for a query, and one for each window of a merge.
    fn files(&self, segment: &Arc<Segment>) -> Vec<PartitionedFile> {
        // The path was parsed when the segment was listed.
        let mut file = PartitionedFile::new("", segment.record.bytes);
        file.object_meta.location = segment.location().clone();
        let file = file
            .with_statistics(Arc::new(self.file_statistics(segment)))
            .with_extension(segment.clone());
        let of_rows = |rows| file.clone().with_extension(ParquetRowSelection::new(rows));
        if let Some(window) = self.window {
            let rows = usize::try_from(segment.record.rows).unwrap_or(usize::MAX);
            return windows(rows, window).map(of_rows).collect();
        }
        match self.selections.of(segment) {
            Some(rows) => vec![of_rows(rows.clone())],
            None => vec![file],
        }
    }

    /// What the catalogue knows of the rows that are read of a segment: the number of rows and bytes, and the time.
    ///
    /// The columns behind the time, of which nothing is known, are left out: those who read the statistics of a file look for each column
    /// whether it has any, and to list dozens of unknown ones for each of hundreds of files takes longer than the rest of planning a scan.
    fn file_statistics(&self, segment: &Segment) -> Statistics {
        let columns = match self.schema.index_of(TIMESTAMP) {
            Ok(time) => time + 1,
            Err(_) => 0,
        };
        self.statistics(&[segment], columns)
    }

    /// What the catalogue knows of the rows that are read, with as many of the schema's columns. Rows and time are exact, but the time of some
    /// rows of a segment is not known.
    fn statistics(&self, segments: &[&Segment], columns: usize) -> Statistics {
        let rows = |segment: &&Segment| match self.selections.of(segment) {
            Some(rows) => rows.row_count() as u64,
            None => segment.record.rows,
        };
        let rows: u64 = segments.iter().map(rows).sum();
        let mut statistics = Statistics {
            num_rows: Precision::Exact(usize::try_from(rows).unwrap_or(usize::MAX)),
            total_byte_size: Precision::Absent,
            column_statistics: vec![ColumnStatistics::new_unknown(); columns],
        };
        if segments.iter().any(|s| self.selections.of(s).is_some()) {
            return statistics;
        }
        let bytes: u64 = segments.iter().map(|segment| segment.record.bytes).sum();
        statistics.total_byte_size =
            Precision::Inexact(usize::try_from(bytes).unwrap_or(usize::MAX));
        let min = segments.iter().map(|segment| segment.record.min_ts).min();
        let max = segments.iter().map(|segment| segment.record.max_ts).max();
        let place = self
            .schema
            .index_of(TIMESTAMP)
            .ok()
            .and_then(|index| statistics.column_statistics.get_mut(index));
        if let (Some(place), Some(min), Some(max)) = (place, min, max) {
            *place = ColumnStatistics {
                null_count: Precision::Exact(0),
                min_value: Precision::Exact(ScalarValue::Int64(Some(min))),
                max_value: Precision::Exact(ScalarValue::Int64(Some(max))),
                ..ColumnStatistics::new_unknown()
            };
        }
        statistics
    }
}

/// Selections of consecutive rows that select each of `rows` rows once, at most `window` at once.
fn windows(rows: usize, window: usize) -> impl Iterator<Item = RowSelection> {
    (0..rows).step_by(window.max(1)).map(move |start| {
        let selected = window.min(rows - start);
        let parts = vec![
            RowSelector::skip(start),
            RowSelector::select(selected),
            RowSelector::skip(rows - start - selected),
        ];
        RowSelection::from(parts)
    })
}

/// `timestamp desc`, as far as the schema has it.
pub(crate) fn newest_first(schema: &SchemaRef) -> Option<LexOrdering> {
    let column = Column::new_with_schema(TIMESTAMP, schema).ok()?;
    let options = SortOptions {
        descending: true,
        nulls_first: false,
    };
    LexOrdering::new([PhysicalSortExpr::new(Arc::new(column), options)])
}

/// Spreads segments over at most `partitions` groups of about the same size, each newest first.
///
/// "The latest N" reads the newest files first and then prunes the others by what it found. No order is declared to
/// the query engine, although the rows of a group often have one: its limit push-down lets the partitions of an
/// ordered scan take each other's files, and then rows are missed.
pub(crate) fn group(mut segments: Vec<Arc<Segment>>, partitions: usize) -> Vec<Vec<Arc<Segment>>> {
    let partitions = partitions.clamp(1, segments.len().max(1));
    segments
        .sort_by_key(|segment| std::cmp::Reverse((segment.record.max_ts, segment.record.min_ts)));
    let mut groups: Vec<(u64, Vec<Arc<Segment>>)> = vec![(0, Vec::new()); partitions];
    for segment in segments {
        if let Some((bytes, files)) = groups.iter_mut().min_by_key(|(bytes, _)| *bytes) {
            *bytes += segment.record.bytes;
            files.push(segment);
        }
    }
    let groups = groups.into_iter().map(|(_, files)| files);
    groups.filter(|files| !files.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_select_each_row_once() {
        let of = |rows, window| -> Vec<(usize, usize, usize)> {
            let windows = windows(rows, window).map(|selection| {
                let selected = selection.row_count();
                let skipped = selection.skipped_row_count();
                let first = selection.iter().next().filter(|part| part.skip);
                let before = first.map_or(0, |part| part.row_count);
                (before, selected, skipped - before)
            });
            windows.collect()
        };
        assert_eq!(of(0, 4), []);
        assert_eq!(of(3, 4), [(0, 3, 0)]);
        assert_eq!(of(4, 4), [(0, 4, 0)]);
        assert_eq!(of(9, 4), [(0, 4, 5), (4, 4, 1), (8, 1, 0)]);
    }
}
