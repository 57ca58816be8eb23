//! What the scans of a partition's files share, and the decision what reads a segment.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::Field;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::FileGroup;
use datafusion::datasource::physical_plan::parquet::ParquetFileReaderFactory;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_datasource::morsel::Morselizer;
use parquet::arrow::async_reader::AsyncFileReader;

use super::cache::{Known, KnownSegment, RowGroup};
use super::loading::Loading;
use super::read_ahead::ReadAhead;
use super::scan_plan::{Condition, ScanPlan};
use crate::segment::{Segment, SegmentAccess, SegmentReaders};

/// Reads a segment's file.
pub(super) type Reader = Box<dyn AsyncFileReader>;

/// What the scans of the files of a partition share.
#[derive(Debug)]
pub(super) struct PartitionScan {
    pub(super) plan: ScanPlan,
    pub(super) access: Arc<SegmentAccess>,
    /// Reads the files that the cache is no help for.
    pub(super) parquet: Box<dyn Morselizer>,
    pub(super) metrics: ExecutionPlanMetricsSet,
    pub(super) partition: usize,
    pub(super) batch_size: usize,
    /// What is decoded to be kept.
    pub(super) loading: Loading,
    /// Whether that also holds for large columns that no condition reads.
    pub(super) may_load_large: bool,
    /// Downloads the segments that are read next.
    pub(super) ahead: ReadAhead,
    /// The files of all partitions, if their rows are counted for the bound of a sort.
    pub(super) files: Vec<FileGroup>,
}

/// How a segment is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// By the Parquet reader.
    Parquet,
    /// By row groups.
    Columns(InMemory),
}

/// What a scan by row groups has in memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct InMemory {
    /// All row groups of the segment, as they were known when the decision was made: the cache may forget them meanwhile.
    pub(super) groups: Arc<[RowGroup]>,
    /// The columns that are in memory or are decoded to be kept.
    pub(super) columns: Vec<usize>,
    /// The conditions whose rows are remembered, or are found and then remembered.
    pub(super) searches: Vec<usize>,
}

impl PartitionScan {
    /// Says that the rows of a segment are read now: those that are read next are downloaded meanwhile.
    pub(super) fn begin(&self, segment: &Segment) {
        self.begin_in(&self.ahead, segment);
    }

    /// Says that a segment is read now by who reads the segments of `ahead`.
    pub(super) fn begin_in(&self, ahead: &ReadAhead, segment: &Segment) {
        ahead.pass(segment, |next| {
            self.may_have_rows(next) && !self.has_in_memory(next)
        });
    }

    /// Whether a segment may have rows of the result, by its times.
    pub(super) fn may_have_rows(&self, segment: &Segment) -> bool {
        let (min_ts, max_ts) = (segment.record.min_ts, segment.record.max_ts);
        let top = self.plan.top.as_ref();
        self.plan.bounds().overlaps(min_ts, max_ts)
            && top.is_none_or(|top| top.may_have(min_ts, max_ts))
    }

    /// Whether all columns of a segment that the scan reads are in memory.
    fn has_in_memory(&self, segment: &Segment) -> bool {
        let known = self.known(segment);
        known.is_some_and(|known| known.columns.iter().all(|known| *known == Known::Fits))
    }

    /// What the column cache knows of a segment and of [`ScanPlan::columns`].
    fn known(&self, segment: &Segment) -> Option<KnownSegment> {
        let columns = self.plan.columns().into_iter();
        let fields: Vec<&Field> = columns
            .map(|column| self.plan.table.field(column))
            .collect();
        self.access.columns.known(segment.record.id, &fields)
    }

    /// How a segment is read; `None` if that depends on its footer, which was not read.
    pub(super) fn decide(&self, segment: &Segment) -> Option<Decision> {
        let Some(known) = self.known(segment) else {
            let loads = self.loading.includes(segment.record.id);
            return (!loads).then_some(Decision::Parquet);
        };
        let columns = self.plan.columns().into_iter().zip(known.columns);
        Some(self.decide_by(segment, known.groups, &columns.collect()))
    }

    /// How a segment is read of which rows are chosen; `None` if that depends on its footer, which was not read. No column is decoded to be
    /// kept.
    pub(super) fn decide_for_chosen_rows(&self, segment: &Segment) -> Option<Decision> {
        let known = self.known(segment)?;
        Some(if known.columns.contains(&Known::Absent) {
            Decision::Parquet
        } else {
            Decision::Columns(InMemory {
                groups: known.groups,
                ..InMemory::default()
            })
        })
    }

    fn decide_by(
        &self,
        segment: &Segment,
        groups: Arc<[RowGroup]>,
        known: &HashMap<usize, Known>,
    ) -> Decision {
        let plan = &self.plan;
        let fixed = plan.conditions.iter().filter(|c| !c.dynamic);
        let fixed_columns: Vec<usize> = fixed.flat_map(|c| c.columns.iter().copied()).collect();
        let is_fixed = |column: usize| fixed_columns.contains(&column);
        let loads = self.loading.includes(segment.record.id);
        let usable = |column: &usize| match known.get(column) {
            Some(Known::Fits) => true,
            Some(Known::Nothing) => loads,
            Some(Known::TooLarge) => self.may_load_large && !is_fixed(*column),
            _ => false,
        };
        let conditions = plan.conditions.iter();
        let conditions = conditions.filter(|c| c.columns.iter().all(usable));
        let top = plan.top.iter().filter(|top| usable(&top.column));
        let latest = plan.latest.iter();
        let latest = latest.filter(|latest| latest.columns().all(|c| usable(&c)));
        let tests = conditions.count() + top.count() + latest.count();
        let loads_output = self.loading.output;
        let in_memory = |column: &usize| {
            known.get(column) == Some(&Known::Fits) || (loads_output && usable(column))
        };
        let whole_output = plan.returned.iter().all(in_memory);
        let is_absent = known.values().any(|known| *known == Known::Absent);
        let is_tested = |index: &usize| {
            let condition = plan.conditions.get(*index);
            condition.is_none_or(|c| c.dynamic || c.columns.iter().all(usable))
        };
        let searches = (0..plan.conditions.len()).filter(|index| !is_tested(index));
        let searches: Vec<usize> = searches.collect();
        let selects = tests > 0 || !searches.is_empty();
        // Without a condition all is read anyway: what fits is kept, because grouping by its codes leaves out rows of the next query.
        let fills = loads
            && plan.conditions.is_empty()
            && plan
                .returned
                .iter()
                .any(|column| loads_output && usable(column));
        let reads_columns = selects || whole_output || fills;
        if is_absent || !self.finds(segment, groups.len(), &searches) || !reads_columns {
            return Decision::Parquet;
        }
        let tested = plan.tested().filter(usable);
        let returned = plan.returned.iter().copied().filter(in_memory);
        let mut columns: Vec<usize> = tested.chain(returned).collect();
        columns.sort_unstable();
        columns.dedup();
        Decision::Columns(InMemory {
            groups,
            columns,
            searches,
        })
    }

    /// Whether the rows that meet these conditions, whose columns cannot be in memory, are remembered or worth to be: to find all of them takes as
    /// much as to scan the segment if no other condition excludes rows.
    fn finds(&self, segment: &Segment, groups: usize, searches: &[usize]) -> bool {
        let conditions = || {
            searches
                .iter()
                .filter_map(|index| self.plan.conditions.get(*index))
        };
        if searches.is_empty() || !conditions().all(|condition| condition.is_search) {
            return searches.is_empty();
        }
        let (min_ts, max_ts) = (segment.record.min_ts, segment.record.max_ts);
        let others = self.plan.conditions.iter().enumerate();
        let mut others = others.filter(|(index, c)| !c.dynamic && !searches.contains(index));
        let excludes_no_row = others.all(|(_, c)| c.is_met_between(min_ts, max_ts));
        let id = segment.record.id;
        let is_remembered = |condition: &Condition| {
            let selections = &self.access.selections;
            selections.has_all(id, groups, selections.id_of(condition.expr()))
        };
        (searches.len() == 1 && excludes_no_row) || conditions().all(is_remembered)
    }

    /// A reader of the file of a segment.
    pub(super) fn reader(&self, file: &PartitionedFile) -> Result<Reader> {
        let readers = SegmentReaders {
            access: self.access.clone(),
        };
        Ok(readers.create_reader(self.partition, file.clone(), None, &self.metrics)?)
    }
}
