//! The scan of one segment: reads the columns that are not in memory, and scans its row groups.

mod chosen;
mod sliced;

use std::collections::{HashMap, VecDeque};
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanBufferBuilder};
use arrow::buffer::BooleanBuffer;
use arrow::record_batch::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use datafusion::error::Result;
use datafusion_datasource::morsel::{Morsel, MorselPlanner};
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, RowSelection, RowSelector,
};
use parquet::arrow::async_reader::{
    AsyncFileReader, ParquetRecordBatchStream, ParquetRecordBatchStreamBuilder,
};

use super::cache::RowGroup;
use super::coded::{CachedColumn, Columns};
use super::footer_facts::footer_facts;
use super::group_scan::{GroupScan, Selected, Steps};
use super::partition_scan::{Decision, InMemory, PartitionScan, Reader};
use super::scan_plan::ScanPlan;
use super::scanned_rows::unrestricted;
use super::selections::Selection;
use super::top_rows::TopBound;
use crate::segment::Segment;

/// A segment that is being scanned.
pub(super) struct FileScan {
    scan: Arc<PartitionScan>,
    file: PartitionedFile,
    segment: Arc<Segment>,
    /// The rows that are scanned; `None` for all.
    chosen: Option<RowSelection>,
    /// What is in memory or kept; `None` before the segment was opened.
    in_memory: Option<InMemory>,
    groups: VecDeque<NextGroup>,
    metadata: Option<ArrowReaderMetadata>,
    current: Option<(usize, RowGroup, GroupScan)>,
    reading: Option<Reading>,
    /// Whether the output of the Parquet reader is counted for the bound of a sort.
    counts: bool,
    /// The output of the Parquet reader, if it reads the segment.
    parquet: Option<BoxStream<'static, Result<RecordBatch>>>,
}

impl Debug for FileScan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "FileScan of {}", self.segment.record.path)
    }
}

/// A row group that is scanned later.
struct NextGroup {
    index: usize,
    group: RowGroup,
    /// The rows of it that are scanned; `None` for all.
    chosen: Option<RowSelection>,
}

/// Columns of selected rows that are being read from the file.
struct Reading {
    stream: ParquetRecordBatchStream<Reader>,
    /// The values of the other columns for all selected rows.
    in_memory: HashMap<usize, ArrayRef>,
    returned: usize,
}

impl FileScan {
    pub(super) fn new(
        scan: Arc<PartitionScan>,
        file: PartitionedFile,
        segment: Arc<Segment>,
    ) -> FileScan {
        FileScan {
            scan,
            file,
            segment,
            chosen: None,
            in_memory: None,
            groups: VecDeque::new(),
            metadata: None,
            current: None,
            reading: None,
            counts: false,
            parquet: None,
        }
    }

    /// The scan of rows that were chosen by number or by an index. They are few, so no column is decoded as a whole for them.
    pub(super) fn of_chosen_rows(
        scan: Arc<PartitionScan>,
        file: PartitionedFile,
        segment: Arc<Segment>,
        chosen: RowSelection,
    ) -> FileScan {
        FileScan {
            chosen: Some(chosen),
            ..FileScan::new(scan, file, segment)
        }
    }

    /// The output of the scan.
    pub(super) fn into_stream(self) -> BoxStream<'static, Result<RecordBatch>> {
        let next = |mut scan: FileScan| async move {
            let batch = scan.next().await?;
            Ok(batch.map(|batch| (batch, scan)))
        };
        futures::stream::try_unfold(self, next).boxed()
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if self.in_memory.is_none() {
            self.open().await?;
        }
        let scan = Arc::clone(&self.scan);
        if let Some(parquet) = &mut self.parquet {
            let batch = parquet.next().await.transpose()?;
            if let (Some(batch), Some(top)) = (&batch, &scan.plan.top)
                && self.counts
            {
                top.count_output(batch)?;
            }
            return Ok(batch);
        }
        loop {
            if let Some(reading) = &mut self.reading {
                match reading.next(&scan.plan).await? {
                    Some(batch) => return Ok(Some(batch)),
                    None => self.reading = None,
                }
            }
            let Some((group, of, current)) = &mut self.current else {
                if !self.begin_group(None).await? {
                    return Ok(None);
                }
                continue;
            };
            let Some(found) = current.next(&scan.plan)? else {
                self.current = None;
                continue;
            };
            let (in_memory, absent): (Vec<usize>, Vec<usize>) = scan
                .plan
                .returned
                .iter()
                .copied()
                .partition(|column| current.has(*column));
            if absent.is_empty() {
                return current.output(&scan.plan, &found).map(Some);
            }
            let in_memory = in_memory
                .into_iter()
                .map(|column| Ok((column, current.values(column, &found)?)));
            let in_memory = in_memory.collect::<Result<_>>()?;
            let (group, selection) = (*group, selection(&found, of.rows));
            let stream = self.read(group, &absent, scan.batch_size, Some(selection));
            self.reading = Some(Reading {
                stream: stream.await?,
                in_memory,
                returned: 0,
            });
        }
    }

    /// Prepares to read the segment: the rows that can be among the first of a sort are known by then, as far as files were counted.
    async fn open(&mut self) -> Result<()> {
        let scan = Arc::clone(&self.scan);
        count_rows(&scan).await?;
        match self.decide().await? {
            Decision::Columns(in_memory) => {
                let rows = self.rows_to_scan(Some(&in_memory.groups)).await?;
                self.read_columns(in_memory, rows);
            }
            Decision::Parquet => {
                let rows = self.rows_to_scan(None).await?;
                let file = self.file.clone();
                let file = match rows {
                    Some(rows) => file.with_extension(ParquetRowSelection::new(rows)),
                    None => file,
                };
                let top = scan.plan.top.as_ref();
                let top = top.filter(|top| top.filter.is_some());
                self.counts = top.is_some_and(|top| top.may_count(&file, &self.segment));
                let planner = scan.parquet.plan_file(file)?;
                let morsels = morsels_of(planner).await?;
                let streams = futures::stream::iter(morsels).flat_map(Morsel::into_stream);
                self.parquet = Some(streams.boxed());
                self.in_memory = Some(InMemory::default());
            }
        }
        Ok(())
    }

    /// Decides how the segment is read.
    async fn decide(&mut self) -> Result<Decision> {
        if let Some(decision) = self.decision() {
            return Ok(decision);
        }
        let metadata = self.metadata().await?;
        let (groups, columns) = footer_facts(&metadata);
        let cache = &self.scan.access.columns;
        cache.put_groups(&self.segment, groups, columns);
        Ok(self.decision().unwrap_or(Decision::Parquet))
    }

    /// How the segment is read; `None` if that depends on its footer, which was not read.
    fn decision(&self) -> Option<Decision> {
        match self.chosen {
            Some(_) => self.scan.decide_for_chosen_rows(&self.segment),
            None => self.scan.decide(&self.segment),
        }
    }

    /// Reads the row groups with this in memory: these rows of them, or all.
    fn read_columns(&mut self, in_memory: InMemory, rows: Option<RowSelection>) {
        let range = self.file.range.clone();
        let is_in_range = |group: &RowGroup| {
            let offset = i64::try_from(group.offset).unwrap_or(i64::MAX);
            range.as_ref().is_none_or(|range| range.contains(offset))
        };
        let mut rest = rows;
        let of_slice = self.chosen.is_none();
        let groups = in_memory.groups.iter().enumerate();
        let groups = groups.map(|(index, group)| {
            let chosen = rest.as_mut().map(|rest| rest.split_off(group.rows));
            let is_whole = |rows: &RowSelection| of_slice && rows.row_count() == group.rows;
            NextGroup {
                index,
                group: *group,
                chosen: chosen.filter(|rows| !is_whole(rows)),
            }
        });
        let is_read = |next: &NextGroup| {
            let has_rows = next.chosen.as_ref().is_none_or(RowSelection::selects_any);
            has_rows && is_in_range(&next.group)
        };
        self.groups = groups.filter(is_read).collect();
        self.in_memory = Some(in_memory);
    }

    /// Counts the rows that meet the conditions for the bound of a sort, if the columns that this takes can be in memory.
    async fn count(mut self, top: &TopBound) -> Result<()> {
        let Decision::Columns(mut in_memory) = self.decide().await? else {
            return Ok(());
        };
        let scan = Arc::clone(&self.scan);
        let is_tested = |column: &usize| scan.plan.tested.contains(column);
        in_memory.columns.retain(is_tested);
        if !in_memory.columns.contains(&top.column) || !top.may_count(&self.file, &self.segment) {
            return Ok(());
        }
        let rows = self.rows_to_scan(Some(&in_memory.groups)).await?;
        self.read_columns(in_memory, rows);
        // Of a row group that is read in part, the columns are not loaded.
        self.groups.retain(|next| next.chosen.is_none());
        while self.begin_group(Some(Steps::of(scan.batch_size))).await? {
            let Some((_, _, mut group)) = self.current.take() else {
                break;
            };
            while let Some(found) = group.next(&scan.plan)? {
                let column = group.column(top.column)?;
                top.count(column, &found.rows, found.selected.as_ref())?;
            }
        }
        Ok(())
    }

    /// Begins the next row group that may have a selected row; `false` at the end. Without `steps`, they depend on what is read from the
    /// file.
    async fn begin_group(&mut self, steps: Option<Steps>) -> Result<bool> {
        let scan = Arc::clone(&self.scan);
        while let Some(next) = self.groups.pop_front() {
            let (index, group) = (next.index, next.group);
            // A query over many row groups without a selected row can be cancelled between them.
            tokio::task::consume_budget().await;
            let top = scan.plan.top.as_ref();
            if !scan.plan.bounds().overlaps(group.min_ts, group.max_ts)
                || top.is_some_and(|top| !top.may_have(group.min_ts, group.max_ts))
            {
                continue;
            }
            let found = match next.chosen {
                Some(chosen) => self.filter_chosen(index, &group, chosen).await?,
                None => match self.searched(index, group.rows).await? {
                    Some(known) => Some((self.load(index, group.rows).await?, known)),
                    None => None,
                },
            };
            let Some((columns, known)) = found else {
                continue;
            };
            let reads_file = !scan.plan.returned.iter().all(|c| columns.contains_key(c));
            let steps = steps.unwrap_or_else(|| {
                if reads_file {
                    Steps::reading_file(&scan.plan, group.rows)
                } else {
                    Steps::of(scan.batch_size)
                }
            });
            let started = GroupScan::new(&scan.plan, columns, known, &group, steps);
            if let Some(started) = started.filter(|started| started.may_have(group.max_ts)) {
                self.current = Some((index, group, started));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The columns of a row group, from memory or from the file.
    async fn load(&mut self, group: usize, rows: usize) -> Result<Columns> {
        let scan = Arc::clone(&self.scan);
        let wanted = self.in_memory.as_ref();
        let wanted = wanted.map_or_else(Vec::new, |in_memory| in_memory.columns.clone());
        let names: Vec<&str> = wanted.iter().map(|c| scan.plan.name(*c)).collect();
        let cache = &scan.access.columns;
        let found = cache.get(self.segment.record.id, group, &names);
        let (mut columns, mut missing) = (Columns::new(), Vec::new());
        for (column, found) in wanted.into_iter().zip(found) {
            match found {
                Some(found) => {
                    columns.insert(column, found);
                }
                None => missing.push(column),
            }
        }
        if missing.is_empty() {
            return Ok(columns);
        }
        let stream = self.read(group, &missing, rows.max(1), None).await?;
        let batches: Vec<RecordBatch> = stream.try_collect().await?;
        for column in missing {
            let name = scan.plan.name(column);
            let parts = batches.iter().map(|batch| column_of(batch, name));
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
            let (decoded, keep) = CachedColumn::of(&arrow::compute::concat(&parts)?)?;
            if decoded.len() != rows {
                return Err(DataFusionError::Internal(format!(
                    "row group {group} of {} has {rows} rows, and its column {name} {}",
                    self.segment.record.path,
                    decoded.len()
                )));
            }
            let decoded = Arc::new(decoded);
            let keep = keep || scan.may_load_large;
            cache.put(self.segment.record.id, group, name, &decoded, keep);
            columns.insert(column, decoded);
        }
        Ok(columns)
    }

    /// The rows of a row group that meet each of the conditions that are remembered; `None` if no row meets all of them.
    async fn searched(&mut self, group: usize, rows: usize) -> Result<Option<Vec<BooleanBuffer>>> {
        let searches = self.in_memory.as_ref();
        let searches = searches.map_or_else(Vec::new, |in_memory| in_memory.searches.clone());
        let mut known = Vec::with_capacity(searches.len());
        for index in searches {
            let selection = self.search(index, group, rows).await?;
            match selection.as_ref() {
                None => return Ok(None),
                Some(bits) => known.push(bits.clone()),
            }
        }
        Ok(Some(known))
    }

    /// The rows of a row group that meet a condition, from memory or from the column in the file.
    async fn search(&mut self, index: usize, group: usize, rows: usize) -> Result<Selection> {
        let scan = Arc::clone(&self.scan);
        let condition = scan.plan.conditions.get(index);
        let condition = condition.ok_or_else(|| {
            DataFusionError::Internal(format!("a scan lost its condition {index}"))
        })?;
        let selections = &scan.access.selections;
        let id = selections.id_of(condition.expr());
        let segment = (self.segment.record.id, self.segment.alive());
        if let Some(found) = selections.get(&segment, group, id) {
            return Ok(found);
        }
        let mut stream = self
            .read(group, &condition.columns, scan.batch_size, None)
            .await?;
        let mut bits = BooleanBufferBuilder::new(rows);
        while let Some(batch) = stream.try_next().await? {
            let column = |column| column_of(&batch, scan.plan.name(column));
            let met = condition.evaluate(batch.num_rows(), column)?;
            bits.append_buffer(met.values());
        }
        if bits.len() != rows {
            return Err(DataFusionError::Internal(format!(
                "row group {group} of {} has {rows} rows, and {} were searched",
                self.segment.record.path,
                bits.len()
            )));
        }
        let bits = bits.finish();
        let found = Arc::new((bits.count_set_bits() > 0).then_some(bits));
        selections.put(segment, group, id, &found);
        Ok(found)
    }

    /// Reads columns of a row group from the file, of all its rows or of a selection of them.
    async fn read(
        &mut self,
        group: usize,
        columns: &[usize],
        batch_size: usize,
        selection: Option<RowSelection>,
    ) -> Result<ParquetRecordBatchStream<Reader>> {
        let metadata = self.metadata().await?;
        let schema = metadata.schema();
        let places = columns
            .iter()
            .map(|column| schema.index_of(self.scan.plan.name(*column)));
        let places = places.collect::<std::result::Result<Vec<_>, _>>()?;
        let mask =
            ProjectionMask::roots(metadata.metadata().file_metadata().schema_descr(), places);
        let reader = self.scan.reader(&self.file)?;
        let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(reader, metadata)
            .with_row_groups(vec![group])
            .with_projection(mask)
            .with_batch_size(batch_size);
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        Ok(builder.build()?)
    }

    async fn metadata(&mut self) -> Result<ArrowReaderMetadata> {
        if let Some(metadata) = &self.metadata {
            return Ok(metadata.clone());
        }
        let (footers, id) = (&self.scan.access.footers, self.segment.record.id);
        let metadata = match footers.get(id) {
            Some(metadata) => metadata,
            None => {
                let footer = self.scan.reader(&self.file)?.get_metadata(None).await?;
                ArrowReaderMetadata::try_new(footer, ArrowReaderOptions::new())?
            }
        };
        self.metadata = Some(metadata.clone());
        Ok(metadata)
    }
}

/// Counts rows of files that no partition has counted, if a sort above the scan returns its first rows only.
async fn count_rows(scan: &Arc<PartitionScan>) -> Result<()> {
    let Some(top) = &scan.plan.top else {
        return Ok(());
    };
    while let Some(file) = top.next_file(&scan.files) {
        let Some(segment) = unrestricted(&file) else {
            continue;
        };
        // What the Parquet reader reads is counted as it arrives.
        let is_decoded = scan.decide(segment) != Some(Decision::Parquet);
        if is_decoded && scan.may_have_rows(segment) {
            scan.begin_in(top.ahead(), segment);
            let file = FileScan::new(Arc::clone(scan), file.clone(), Arc::clone(segment));
            file.count(top).await?;
        }
    }
    Ok(())
}

impl Reading {
    async fn next(&mut self, plan: &ScanPlan) -> Result<Option<RecordBatch>> {
        let Some(read) = self.stream.try_next().await? else {
            return Ok(None);
        };
        let (start, rows) = (self.returned, read.num_rows());
        self.returned += rows;
        let output = plan.output(rows, |column| match self.in_memory.get(&column) {
            Some(values) => Ok(values.slice(start, rows)),
            None => column_of(&read, plan.name(column)),
        });
        output.map(Some)
    }
}

/// The morsels that a planner plans, for which it may read the file.
async fn morsels_of(planner: Box<dyn MorselPlanner>) -> Result<Vec<Box<dyn Morsel>>> {
    let (mut planners, mut morsels) = (vec![planner], Vec::new());
    while let Some(planner) = planners.pop() {
        let Some(mut plan) = planner.plan()? else {
            continue;
        };
        morsels.append(&mut plan.take_morsels());
        planners.append(&mut plan.take_ready_planners());
        if let Some(pending) = plan.take_pending_planner() {
            planners.push(pending.await?);
        }
    }
    Ok(morsels)
}

fn column_of(batch: &RecordBatch, name: &str) -> Result<ArrayRef> {
    let column = batch.column_by_name(name).cloned();
    column.ok_or_else(|| DataFusionError::Internal(format!("a segment lost its column {name}")))
}

/// The selected rows among the rows of a row group.
fn selection(found: &Selected, rows: usize) -> RowSelection {
    let mut selectors = vec![RowSelector::skip(found.rows.start)];
    match &found.selected {
        None => selectors.push(RowSelector::select(found.rows.len())),
        Some(selected) => {
            let mut next = 0;
            for (start, end) in selected.values().set_slices() {
                selectors.push(RowSelector::skip(start - next));
                selectors.push(RowSelector::select(end - start));
                next = end;
            }
            selectors.push(RowSelector::skip(found.rows.len() - next));
        }
    }
    selectors.push(RowSelector::skip(rows - found.rows.end));
    RowSelection::from(selectors)
}
