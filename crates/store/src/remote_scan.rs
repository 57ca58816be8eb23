//! Scans of segments that other nodes run.
//!
//! A [`RemoteScan`] lists its segments, so that the node that runs it reads those of the snapshot of the query, and needs none of its own.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::ProjectionExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::PartitionedFile;
use parquet::arrow::arrow_reader::{RowSelection, RowSelector};
use uuid::Uuid;

use crate::app_id::AppId;
use crate::catalogue::SegmentRecord;
use crate::chosen_rows::Selections;
use crate::promote::PromotedColumn;
use crate::scan::SegmentScan;
use crate::scan_parts::{bounds_of_times, parts, with_slice};
use crate::schema::Table;
use crate::segment::{Checksums, Segment};
use crate::store::Store;
use crate::time_range::TimeRange;
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
    /// The times at which rows are read; `None` for all.
    pub slice: Option<TimeRange>,
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
        slice: file.extension::<TimeRange>().copied(),
    })
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
        let times = scan.groups.iter().flatten().map(|segment| {
            let (from, to) = segment.times;
            segment.slice.unwrap_or(TimeRange { from, to })
        });
        let statistics = bounds_of_times(source.table(), times);
        let groups = with_ranges(&config.file_groups, &scan.groups);
        let config = FileScanConfigBuilder::from(config.clone())
            .with_source(Arc::new(source))
            .with_file_groups(groups)
            .with_statistics(statistics);
        Ok(DataSourceExec::from_data_source(config.build()))
    }
}

/// The files of a scan with the ranges and the slices that are read of them.
fn with_ranges(files: &[FileGroup], segments: &[Vec<RemoteSegment>]) -> Vec<FileGroup> {
    let with_range = |file: &PartitionedFile, remote: &RemoteSegment| match remote.range {
        Some((start, end)) => file.clone().with_range(start, end),
        None => file.clone(),
    };
    let groups = files.iter().zip(segments).map(|(files, segments)| {
        let files = files.files().iter().zip(segments);
        let files = files.map(|(file, remote)| {
            let file = with_range(file, remote);
            match remote.slice {
                Some(slice) => with_slice(&file, slice),
                None => file,
            }
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
