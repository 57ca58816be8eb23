//! What a scan of segments reads, and parts of such a scan.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{ScalarValue, Statistics};
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::PartitionedFile;

use crate::app_id::AppId;
use crate::columns::SegmentSource;
use crate::schema::TIMESTAMP;
use crate::segment::Segment;
use crate::time_range::TimeRange;

/// The configuration and the source of a scan of segments; `None` for other plans.
pub(crate) fn parts(plan: &dyn ExecutionPlan) -> Option<(&FileScanConfig, &SegmentSource)> {
    let source = plan.downcast_ref::<DataSourceExec>()?.data_source();
    let config = source.downcast_ref::<FileScanConfig>()?;
    let segments = config.file_source().downcast_ref::<SegmentSource>()?;
    Some((config, segments))
}

/// An estimate of the bytes that a plan reads of segments: the share of its rows and of its columns in their files. `None` if it is no scan of
/// segments, or one that cannot be divided.
pub fn scanned_bytes(plan: &dyn ExecutionPlan) -> Option<u64> {
    let (config, source) = parts(plan)?;
    if config.output_partitioning.is_some() || !config.output_ordering.is_empty() {
        return None;
    }
    let bytes: u64 = scanned_parts(plan)?.iter().map(|part| part.bytes).sum();
    let outputs = source.outputs()?.into_iter().map(|output| output.expr);
    let columns: HashSet<Column> = outputs
        .chain(source.predicate())
        .flat_map(|expr| collect_columns(&expr))
        .collect();
    let all = source.table().fields().len().max(1);
    Some(share(bytes, columns.len() as u64, all as u64))
}

/// How many segments, or parts of segments, a plan scans; `None` if it is no scan of segments.
pub fn scanned_segments(plan: &dyn ExecutionPlan) -> Option<usize> {
    let (config, _) = parts(plan)?;
    Some(config.file_groups.iter().map(FileGroup::len).sum())
}

/// A segment, or a part of one, that a plan scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScannedPart {
    /// The application of the segment.
    pub app: AppId,
    /// The earliest timestamp in the segment, in ticks.
    pub earliest: i64,
    /// The times of the segment that the condition of the scan permits.
    pub times: TimeRange,
    /// An estimate of the bytes that are read of it.
    pub bytes: u64,
    /// An estimate of the rows that these bytes have.
    pub rows: u64,
}

/// The segments, or parts of segments, that a plan scans; those at whose times no row meets its condition are left out. `None` if it is no scan of segments.
pub fn scanned_parts(plan: &dyn ExecutionPlan) -> Option<Vec<ScannedPart>> {
    let (config, source) = parts(plan)?;
    let permitted = source.permitted_times();
    let mut found = Vec::new();
    for file in config.file_groups.iter().flat_map(FileGroup::files) {
        let segment = file.extension::<Arc<Segment>>()?;
        let all = times_of(file, segment);
        let Some(times) = all.and_then(|all| all.and(permitted).non_empty()) else {
            continue;
        };
        found.push(ScannedPart {
            app: segment.record.app,
            earliest: segment.record.min_ts,
            times,
            bytes: file_share(file, segment, times, file_bytes(file, segment)),
            rows: file_share(file, segment, times, segment.record.rows),
        });
    }
    Some(found)
}

/// The expression of a column that a scan of segments returns, over the columns of its table. `None` if `plan` is no scan of segments, or has no such column.
pub fn scanned_column(plan: &dyn ExecutionPlan, column: usize) -> Option<Arc<dyn PhysicalExpr>> {
    let outputs = parts(plan)?.1.outputs()?;
    outputs.into_iter().nth(column).map(|output| output.expr)
}

/// The condition of the rows that a scan of segments returns; `None` if it returns all, or if `plan` is no scan of segments.
pub fn scan_condition(plan: &dyn ExecutionPlan) -> Option<Arc<dyn PhysicalExpr>> {
    parts(plan)?.1.predicate()
}

/// `part` of `all` of these bytes.
fn share(bytes: u64, part: u64, all: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(part) / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(bytes)
}

/// The times at which rows of a file are read; `None` if there are none.
fn times_of(file: &PartitionedFile, segment: &Segment) -> Option<TimeRange> {
    let slice = file.extension::<TimeRange>().copied();
    slice
        .unwrap_or(TimeRange::ALL)
        .and(segment.times())
        .non_empty()
}

/// The bytes of the part of a file that is scanned.
fn file_bytes(file: &PartitionedFile, segment: &Segment) -> u64 {
    match &file.range {
        Some(range) => u64::try_from(range.end - range.start).unwrap_or(0),
        None => segment.record.bytes,
    }
}

/// An estimate of the share of `all` of a file that is read at these times: it takes the rows of a segment to be spread evenly over its times.
fn file_share(file: &PartitionedFile, segment: &Segment, times: TimeRange, all: u64) -> u64 {
    match file.extension::<ParquetRowSelection>() {
        Some(rows) => {
            let read = rows.selection().row_count() as u64;
            share(all, read, segment.record.rows)
        }
        None => share(all, times.ticks(), segment.times().ticks()),
    }
}

/// `file` of which the rows at these times are read.
pub(crate) fn with_slice(file: &PartitionedFile, slice: TimeRange) -> PartitionedFile {
    let mut file = file.clone().with_extension(slice);
    // They count the rows of the whole segment.
    file.statistics = None;
    file
}

/// The part of a scan that reads what `read` returns of each segment, given its application and its earliest timestamp in ticks: slices without common times.
/// It has at most `partitions` partitions, and at least one. `None` if `plan` is no scan of segments.
pub fn part_of_scan(
    plan: &dyn ExecutionPlan,
    read: &dyn Fn(AppId, i64) -> Vec<TimeRange>,
    partitions: usize,
) -> Option<Arc<dyn ExecutionPlan>> {
    let (config, source) = parts(plan)?;
    let mut files: Vec<(TimeRange, u64, PartitionedFile)> = Vec::new();
    for file in config.file_groups.iter().flat_map(FileGroup::files) {
        let segment = file.extension::<Arc<Segment>>()?;
        let Some(all) = times_of(file, segment) else {
            continue;
        };
        for slice in read(segment.record.app, segment.record.min_ts) {
            let Some(times) = all.and(slice).non_empty() else {
                continue;
            };
            let bytes = file_share(file, segment, times, file_bytes(file, segment));
            let part = if slice.covers(all) {
                file.clone()
            } else {
                with_slice(file, times)
            };
            files.push((times, bytes, part));
        }
    }
    // As scans are planned: each partition begins with the newest segments.
    files.sort_by_key(|(times, _, _)| Reverse((times.to, times.from)));
    let times = files.iter().map(|(times, _, _)| *times);
    let statistics = bounds_of_times(source.table(), times);
    let partitions = partitions.min(files.len()).max(1);
    let mut groups: Vec<(u64, FileGroup)> = vec![(0, FileGroup::default()); partitions];
    for (_, read, file) in files {
        let (bytes, group) = groups.iter_mut().min_by_key(|(bytes, _)| *bytes)?;
        *bytes += read;
        group.push(file);
    }
    let part = FileScanConfigBuilder::from(config.clone())
        .with_file_groups(groups.into_iter().map(|(_, group)| group).collect())
        .with_statistics(statistics);
    Some(DataSourceExec::from_data_source(part.build()))
}

/// The bounds of times that are read, by which bins of time are grouped; nothing else of the rows is known.
pub(crate) fn bounds_of_times(
    schema: &SchemaRef,
    times: impl Iterator<Item = TimeRange> + Clone,
) -> Statistics {
    let mut statistics = Statistics::new_unknown(schema);
    let columns = &mut statistics.column_statistics;
    let time = schema.index_of(TIMESTAMP).ok();
    let (min, max) = (
        times.clone().map(|times| times.from).min(),
        times.map(|times| times.to).max(),
    );
    if let (Some(place), Some(min), Some(max)) =
        (time.and_then(|time| columns.get_mut(time)), min, max)
    {
        place.min_value = Precision::Inexact(ScalarValue::Int64(Some(min)));
        place.max_value = Precision::Inexact(ScalarValue::Int64(Some(max)));
    }
    statistics
}
