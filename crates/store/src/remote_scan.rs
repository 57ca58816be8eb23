//! Scans of segments that other nodes run.
//!
//! A [`RemoteScan`] lists its segments, so that the node that runs it reads those of the snapshot of the query, and needs none of its own.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::{ScalarValue, Statistics};
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExpr;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::PartitionedFile;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use uuid::Uuid;

use crate::app_id::AppId;
use crate::catalogue::SegmentRecord;
use crate::chosen_rows::Selections;
use crate::columns::SegmentSource;
use crate::promote::PromotedColumn;
use crate::scan::SegmentScan;
use crate::schema::{TIMESTAMP, Table};
use crate::segment::{Checksums, Segment};
use crate::store::Store;
use crate::view::{Key, View};

/// A segment of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteSegment {
    /// Its id in the catalogue.
    pub id: i64,
    /// The application that it belongs to.
    pub app: Uuid,
    /// The name of its table.
    pub table: String,
    /// Its path below the folder of segments.
    pub path: String,
    /// Its rows.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// The smallest and the largest timestamp in it, in ticks.
    pub times: (i64, i64),
    /// The promoted columns in it, by their full names.
    pub promoted: Vec<String>,
    /// The checksums of its file's blocks; empty for a segment that has none.
    pub checksums: Vec<u8>,
    /// The rows that are read, as runs that are skipped (`true`) or read; `None` for all.
    pub selection: Option<Vec<(bool, u64)>>,
    /// The bytes of the file whose row groups are read, end excluded; `None` for all.
    pub range: Option<(i64, i64)>,
}

/// A scan of segments.
#[derive(Debug, Clone)]
pub struct RemoteScan {
    /// The columns of the table and the promoted ones behind them.
    pub schema: SchemaRef,
    /// The promoted columns of the schema.
    pub promoted: Vec<PromotedColumn>,
    /// The segments that each partition reads.
    pub groups: Vec<Vec<RemoteSegment>>,
    /// The condition of the rows that are returned, over `schema`.
    pub predicate: Option<Arc<dyn PhysicalExpr>>,
    /// What is returned of each row, over `schema`.
    pub projection: Vec<ProjectionExpr>,
    /// The most rows that are needed.
    pub limit: Option<usize>,
}

/// The configuration and the source of a scan of segments; `None` for other plans.
fn parts(plan: &dyn ExecutionPlan) -> Option<(&FileScanConfig, &SegmentSource)> {
    let source = plan.downcast_ref::<DataSourceExec>()?.data_source();
    let config = source.downcast_ref::<FileScanConfig>()?;
    let segments = config.file_source().downcast_ref::<SegmentSource>()?;
    Some((config, segments))
}

/// The scan of segments that a plan is; `None` if it is another plan, or one whose partitions have a meaning.
pub fn remote_scan(plan: &dyn ExecutionPlan) -> Option<RemoteScan> {
    let (config, source) = parts(plan)?;
    if config.output_partitioning.is_some() || !config.output_ordering.is_empty() {
        return None;
    }
    let groups = config.file_groups.iter();
    let groups = groups.map(|group| group.files().iter().map(remote_segment).collect());
    Some(RemoteScan {
        schema: source.table().clone(),
        promoted: source.promoted().to_vec(),
        groups: groups.collect::<Option<_>>()?,
        predicate: source.predicate(),
        projection: source.outputs()?,
        limit: config.limit,
    })
}

/// An estimate of the bytes that a plan reads of segments: the share of its rows and of its columns in their files. `None` if it is no scan of
/// segments, or one that cannot be divided.
pub fn scanned_bytes(plan: &dyn ExecutionPlan) -> Option<u64> {
    let (config, source) = parts(plan)?;
    if config.output_partitioning.is_some() || !config.output_ordering.is_empty() {
        return None;
    }
    let files = config.file_groups.iter().flat_map(FileGroup::files);
    let bytes: u64 = files.map(file_bytes).sum();
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
    /// The smallest and the largest timestamp in the segment, in ticks.
    pub times: (i64, i64),
    /// The bytes that are read of it.
    pub bytes: u64,
}

/// The segments, or parts of segments, that a plan scans. `None` if it is no scan of segments.
pub fn scanned_parts(plan: &dyn ExecutionPlan) -> Option<Vec<ScannedPart>> {
    let (config, _) = parts(plan)?;
    let files = config.file_groups.iter().flat_map(FileGroup::files);
    let part = |file: &PartitionedFile| {
        let record = &file.extension::<Arc<Segment>>()?.record;
        Some(ScannedPart {
            app: record.app,
            times: (record.min_ts, record.max_ts),
            bytes: file_bytes(file),
        })
    };
    files.map(part).collect()
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

fn file_bytes(file: &PartitionedFile) -> u64 {
    let Some(segment) = file.extension::<Arc<Segment>>() else {
        return 0;
    };
    let bytes = match &file.range {
        Some(range) => u64::try_from(range.end - range.start).unwrap_or(0),
        None => segment.record.bytes,
    };
    match file.extension::<ParquetRowSelection>() {
        Some(rows) => {
            let read = rows.selection().row_count() as u64;
            share(bytes, read, segment.record.rows)
        }
        None => bytes,
    }
}

fn remote_segment(file: &PartitionedFile) -> Option<RemoteSegment> {
    let record = &file.extension::<Arc<Segment>>()?.record;
    let selection = file.extension::<ParquetRowSelection>().map(|rows| {
        let runs = rows.selection().iter();
        runs.map(|run| (run.skip, run.row_count as u64)).collect()
    });
    Some(RemoteSegment {
        id: record.id,
        app: record.app.0,
        table: record.table.name().to_owned(),
        path: record.path.clone(),
        rows: record.rows,
        bytes: record.bytes,
        times: (record.min_ts, record.max_ts),
        promoted: record.promoted.clone(),
        checksums: record
            .checksums
            .as_ref()
            .map(Checksums::to_bytes)
            .unwrap_or_default(),
        selection,
        range: file.range.as_ref().map(|range| (range.start, range.end)),
    })
}

/// The part of a scan that reads the segments for which `is_read` returns `true`, given their application and their earliest timestamp in ticks.
/// It has at most `partitions` partitions, and at least one. `None` if `plan` is no scan of segments.
pub fn part_of_scan(
    plan: &dyn ExecutionPlan,
    is_read: &dyn Fn(AppId, i64) -> bool,
    partitions: usize,
) -> Option<Arc<dyn ExecutionPlan>> {
    let (config, source) = parts(plan)?;
    let mut files: Vec<(&PartitionedFile, &Segment)> = Vec::new();
    for file in config.file_groups.iter().flat_map(FileGroup::files) {
        let segment = file.extension::<Arc<Segment>>()?;
        if is_read(segment.record.app, segment.record.min_ts) {
            files.push((file, segment));
        }
    }
    // As scans are planned: each partition begins with the newest segments.
    files.sort_by_key(|(_, segment)| Reverse((segment.record.max_ts, segment.record.min_ts)));
    let statistics = bounds_of_times(source.table(), &files);
    let partitions = partitions.min(files.len()).max(1);
    let mut groups: Vec<(u64, FileGroup)> = vec![(0, FileGroup::default()); partitions];
    for (file, _) in files {
        let (bytes, group) = groups.iter_mut().min_by_key(|(bytes, _)| *bytes)?;
        *bytes += file_bytes(file);
        group.push(file.clone());
    }
    let part = FileScanConfigBuilder::from(config.clone())
        .with_file_groups(groups.into_iter().map(|(_, group)| group).collect())
        .with_statistics(statistics);
    Some(DataSourceExec::from_data_source(part.build()))
}

/// The bounds of the times of segments, by which bins of time are grouped; nothing else of them is known.
fn bounds_of_times(schema: &SchemaRef, files: &[(&PartitionedFile, &Segment)]) -> Statistics {
    let mut statistics = Statistics::new_unknown(schema);
    let columns = &mut statistics.column_statistics;
    let time = schema.index_of(TIMESTAMP).ok();
    let min = files.iter().map(|(_, segment)| segment.record.min_ts).min();
    let max = files.iter().map(|(_, segment)| segment.record.max_ts).max();
    if let (Some(place), Some(min), Some(max)) =
        (time.and_then(|time| columns.get_mut(time)), min, max)
    {
        place.min_value = Precision::Inexact(ScalarValue::Int64(Some(min)));
        place.max_value = Precision::Inexact(ScalarValue::Int64(Some(max)));
    }
    statistics
}

impl Store {
    /// The plan of a scan that another node has planned.
    ///
    /// # Errors
    /// A segment or an expression that this version does not know.
    pub fn plan_remote_scan(&self, scan: RemoteScan) -> Result<Arc<dyn ExecutionPlan>> {
        let mut selections = Selections::default();
        let mut groups = Vec::with_capacity(scan.groups.len());
        let mut known = KnownSegments::of(self);
        for group in &scan.groups {
            let mut segments = Vec::with_capacity(group.len());
            for remote in group {
                let segment = known.segment(remote)?;
                if let Some(rows) = &remote.selection {
                    selections.add(&segment, selection(rows)?);
                }
                segments.push(segment);
            }
            groups.push(segments);
        }
        let plan = SegmentScan {
            schema: scan.schema,
            promoted: scan.promoted.into(),
            access: self.access.clone(),
            groups,
            selections,
            window: None,
            projection: None,
            limit: scan.limit,
        }
        .plan()?;
        let (config, source) = parts(plan.as_ref())
            .ok_or_else(|| internal("the column cache is off (`store.column_cache`)"))?;
        let source = source.with_outputs(scan.predicate, scan.projection)?;
        let groups = with_ranges(&config.file_groups, &scan.groups);
        let config = FileScanConfigBuilder::from(config.clone())
            .with_source(Arc::new(source))
            .with_file_groups(groups);
        Ok(DataSourceExec::from_data_source(config.build()))
    }
}

/// The files of a scan with the ranges that are read of them.
fn with_ranges(files: &[FileGroup], segments: &[Vec<RemoteSegment>]) -> Vec<FileGroup> {
    let groups = files.iter().zip(segments).map(|(files, segments)| {
        let files = files.files().iter().zip(segments);
        let files = files.map(|(file, remote)| match remote.range {
            Some((start, end)) => file.clone().with_range(start, end),
            None => file.clone(),
        });
        FileGroup::new(files.collect())
    });
    groups.collect()
}

/// The segments of this node's list. A scan uses them where it can, so that it shares what is cached of them.
struct KnownSegments<'a> {
    store: &'a Store,
    view: Arc<View>,
    tables: HashMap<Key, HashMap<i64, Arc<Segment>>>,
}

impl KnownSegments<'_> {
    fn of(store: &Store) -> KnownSegments<'_> {
        KnownSegments {
            store,
            view: store.view.get(),
            tables: HashMap::new(),
        }
    }

    /// The segment, which may not be in this node's list.
    fn segment(&mut self, remote: &RemoteSegment) -> Result<Arc<Segment>> {
        let table =
            Table::from_name(&remote.table).ok_or_else(|| internal("a table is unknown"))?;
        let key = (AppId(remote.app), table);
        let view = &self.view;
        let listed = self.tables.entry(key).or_insert_with(|| {
            let segments = view.tables.get(&key).into_iter();
            let segments = segments.flat_map(|state| state.segments.iter());
            segments.map(|s| (s.record.id, s.clone())).collect()
        });
        let known = listed.get(&remote.id);
        if let Some(known) = known.filter(|known| known.record.path == remote.path) {
            return Ok(known.clone());
        }
        let made = self.store.segments(vec![record(remote, key)?]).pop();
        made.ok_or_else(|| internal("a segment is unknown"))
    }
}

/// The record of a segment, as far as a scan reads it.
fn record(remote: &RemoteSegment, (app, table): Key) -> Result<SegmentRecord> {
    let checksums = match remote.checksums.as_slice() {
        [] => None,
        bytes => {
            let checksums = Checksums::from_bytes(bytes);
            Some(checksums.ok_or_else(|| internal("a list of checksums is malformed"))?)
        }
    };
    Ok(SegmentRecord {
        id: remote.id,
        app,
        table,
        path: remote.path.clone(),
        rows: remote.rows,
        bytes: remote.bytes,
        min_ts: remote.times.0,
        max_ts: remote.times.1,
        min_seq: 0,
        max_seq: 0,
        level: 0,
        promoted: remote.promoted.clone(),
        created: 0,
        checksums,
        damage: None,
        expired: None,
    })
}

fn internal(what: &str) -> DataFusionError {
    DataFusionError::Internal(format!("a scan of another node cannot be planned: {what}"))
}

fn selection(runs: &[(bool, u64)]) -> Result<RowSelection> {
    let run = |(skip, rows): &(bool, u64)| {
        let rows =
            usize::try_from(*rows).map_err(|error| DataFusionError::External(Box::new(error)))?;
        Ok(if *skip {
            RowSelector::skip(rows)
        } else {
            RowSelector::select(rows)
        })
    };
    let runs: Result<Vec<RowSelector>> = runs.iter().map(run).collect();
    Ok(RowSelection::from(runs?))
}
