//! A table of a snapshot, as the query engine reads it: memory and segments together.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::union::UnionExec;
use hindsight_kql_types::terms::TermCondition;

use crate::bag_leaf::BagLeaf;
use crate::chosen_rows::{ChosenRows, RowChoice, Selections};
use crate::missing::MissingList;
use crate::peers::{self, PeerRows};
use crate::promote::PromotedColumn;
use crate::required::Required;
use crate::scan::{self, SegmentScan};
use crate::schema::Table;
use crate::segment::{Segment, SegmentAccess};
use crate::time_bounds::{lookups, time_bounds};
use crate::time_range::TimeRange;
use crate::view::TableRows;

/// Rows of the memtable below which a second partition costs more than it gains.
const HOT_PARTITION_ROWS: usize = 32_768;

/// Finds the terms that the filters of queries require of texts.
pub trait FilterTerms: Debug + Send + Sync {
    /// A condition that every row meets that passes `filter`; `None` if it requires no term.
    fn required(&self, filter: &Expr) -> Option<TermCondition>;
}

/// One table of some applications, over a snapshot.
#[derive(Debug, Clone)]
pub struct StoreTable {
    table: Table,
    rows: TableRows,
    access: Arc<SegmentAccess>,
    missing: MissingList,
    promoted: Arc<[PromotedColumn]>,
    schema: SchemaRef,
    choice: Option<Arc<dyn RowChoice>>,
    terms: Option<Arc<dyn FilterTerms>>,
}

impl StoreTable {
    pub(crate) fn new(
        table: Table,
        rows: TableRows,
        access: Arc<SegmentAccess>,
        missing: MissingList,
    ) -> StoreTable {
        StoreTable {
            table,
            rows,
            access,
            missing,
            promoted: Arc::default(),
            schema: table.stored_schema(),
            choice: None,
            terms: None,
        }
    }

    /// Which table it is.
    pub fn table(&self) -> Table {
        self.table
    }

    /// The columns that [`StoreTable::with_promoted`] has added.
    pub fn promoted(&self) -> &[PromotedColumn] {
        &self.promoted
    }

    /// The table with the same columns and no rows; `None` if its scans are restricted to chosen rows.
    pub fn without_rows(&self) -> Option<StoreTable> {
        if self.choice.is_some() {
            return None;
        }
        Some(StoreTable {
            rows: TableRows::default(),
            missing: MissingList::default(),
            ..self.clone()
        })
    }

    /// Restricts each scan to the rows that `choice` chooses among all rows of the table. Only these rows are read.
    pub fn with_rows_of(mut self, choice: Arc<dyn RowChoice>) -> StoreTable {
        self.choice = Some(choice);
        self
    }

    /// Lets scans leave out rows by the terms that `terms` finds in their filters, where segments have an index of terms.
    pub fn with_terms_of(mut self, terms: Arc<dyn FilterTerms>) -> StoreTable {
        self.terms = Some(terms);
        self
    }

    /// Adds a column `<bag>.<key>` for each of these keys, behind those of stored rows.
    ///
    /// Any key of any bag will do: it is read as a column from the segments that promote it, and from the bag
    /// elsewhere. A column that names no bag of the table is left out.
    pub fn with_promoted(mut self, columns: Vec<PromotedColumn>) -> StoreTable {
        let known = columns
            .into_iter()
            .filter(|column| self.table.column(&column.bag).is_some());
        self.promoted = known.collect();
        let mut fields = self.table.stored_schema().fields().to_vec();
        fields.extend(self.promoted.iter().map(|column| Arc::new(column.field())));
        self.schema = Arc::new(Schema::new(fields));
        self
    }

    /// The promoted columns that at least one segment of this table has, by their full names.
    pub fn promoted_somewhere(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .rows
            .segments
            .iter()
            .flat_map(|segment| segment.record.promoted.iter().cloned())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether it has rows in the memtables of other nodes. They have no numbers by which [`StoreTable::with_rows_of`] could choose them.
    pub fn reads_other_nodes(&self) -> bool {
        !self.rows.peers.is_empty()
    }

    /// The most rows that a scan with these filters reads, by the times of what it would open; `None` if other nodes have rows.
    pub fn rows_in(&self, filters: &[Expr]) -> Option<u64> {
        if self.reads_other_nodes() {
            return None;
        }
        let bounds = time_bounds(filters);
        let chunks = self.rows.chunks.iter();
        let chunks = chunks.filter(|chunk| bounds.overlaps(chunk.min_ts, chunk.max_ts));
        let segments = self.rows.segments.iter();
        let segments = segments.filter(|segment| segment.overlaps(bounds.from, bounds.to));
        let in_memory: u64 = chunks.map(|chunk| chunk.batch.num_rows() as u64).sum();
        Some(in_memory + segments.map(|segment| segment.record.rows).sum::<u64>())
    }

    /// How many segments a scan with these filters would open.
    pub fn segments_in(&self, filters: &[Expr]) -> usize {
        let bounds = time_bounds(filters);
        self.rows
            .segments
            .iter()
            .filter(|segment| segment.overlaps(bounds.from, bounds.to))
            .count()
    }

    /// The columns that a scan returns, as indexes of the provider's schema.
    fn wanted(&self, projection: Option<&Vec<usize>>) -> Vec<usize> {
        projection
            .cloned()
            .unwrap_or_else(|| (0..self.schema.fields().len()).collect())
    }

    /// The rows that a scan reads: those of chunks and segments whose times overlap the bounds, or the chosen ones.
    fn rows_read(&self, bounds: TimeRange) -> Result<ChosenRows> {
        if let Some(choice) = &self.choice {
            return ChosenRows::of(&self.rows, choice.as_ref())
                .map_err(|error| DataFusionError::External(Box::new(error)));
        }
        let chunks = self.rows.chunks.iter();
        let chunks = chunks.filter(|chunk| bounds.overlaps(chunk.min_ts, chunk.max_ts));
        let segments = self.rows.segments.iter();
        let segments = segments.filter(|segment| segment.overlaps(bounds.from, bounds.to));
        Ok(ChosenRows {
            batches: chunks.map(|chunk| chunk.batch.clone()).collect(),
            segments: segments.cloned().collect(),
            selections: Selections::default(),
        })
    }

    /// Leaves out segments, and rows of segments, that cannot pass the filters by their Bloom filters or their indexes.
    async fn without_others(&self, filters: &[Expr], rows: ChosenRows) -> Result<ChosenRows> {
        let terms = self.terms.as_ref().filter(|_| self.access.text_index);
        let required = |filter: &Expr| terms.and_then(|terms| terms.required(filter));
        let conditions: Vec<TermCondition> = filters.iter().filter_map(required).collect();
        let required = Required {
            lookups: lookups(filters),
            terms: (!conditions.is_empty()).then_some(TermCondition::All(conditions)),
        };
        if required == Required::default() || rows.segments.is_empty() {
            return Ok(rows);
        }
        let found = required.leave_out_others(&self.access, rows).await;
        found.map_err(|error| DataFusionError::External(Box::new(error)))
    }

    /// Plans that read the memtable of this node, and those of others.
    fn hot(
        &self,
        batches: Vec<RecordBatch>,
        bounds: TimeRange,
        wanted: &[usize],
        limit: Option<usize>,
        partitions: usize,
    ) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        let peers = self.rows.peers.iter();
        let peers = peers.filter(|rows| rows.overlaps(bounds.from, bounds.to));
        let peers: Vec<PeerRows> = peers.cloned().collect();
        if batches.is_empty() && peers.is_empty() {
            return Ok(Vec::new());
        }
        let base = self.table.stored_schema();
        let own = base.fields().len();
        let mut columns: Vec<usize> = wanted
            .iter()
            .copied()
            .filter(|index| *index < own)
            .collect();
        for index in wanted.iter().filter(|index| **index >= own) {
            let bag = base.index_of(&self.promoted_at(*index)?.bag)?;
            if !columns.contains(&bag) {
                columns.push(bag);
            }
        }
        let exact = columns == wanted;
        let mut plans: Vec<Arc<dyn ExecutionPlan>> = Vec::new();
        if !peers.is_empty() {
            let schema = Arc::new(base.project(&columns)?);
            plans.push(peers::plan(
                peers,
                &schema,
                (bounds.from, bounds.to),
                limit,
            )?);
        }
        if !batches.is_empty() {
            let source =
                MemorySourceConfig::try_new(&spread(batches, partitions), base, Some(columns))?
                    .with_limit(limit);
            plans.push(DataSourceExec::from_data_source(source));
        }
        if exact {
            return Ok(plans);
        }
        let plans = plans.into_iter();
        plans.map(|plan| self.with_leaves(plan, wanted)).collect()
    }

    /// Adds the promoted columns to what is read from memory.
    fn with_leaves(
        &self,
        memory: Arc<dyn ExecutionPlan>,
        wanted: &[usize],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = memory.schema();
        let own = self.table.stored_schema().fields().len();
        let mut columns: Vec<(Arc<dyn PhysicalExpr>, String)> = Vec::with_capacity(wanted.len());
        for index in wanted {
            let name = self.schema.field(*index).name().clone();
            let expr: Arc<dyn PhysicalExpr> = if *index < own {
                Arc::new(Column::new_with_schema(&name, &input)?)
            } else {
                BagLeaf::in_schema(self.promoted_at(*index)?, &input)?
            };
            columns.push((expr, name));
        }
        Ok(Arc::new(ProjectionExec::try_new(columns, memory)?))
    }

    fn promoted_at(&self, index: usize) -> Result<&PromotedColumn> {
        index
            .checked_sub(self.table.stored_schema().fields().len())
            .and_then(|index| self.promoted.get(index))
            .ok_or_else(|| {
                DataFusionError::Internal(format!("{} has no column {index}", self.table))
            })
    }

    fn sealed(
        &self,
        segments: Vec<Arc<Segment>>,
        selections: Selections,
        projection: Option<&Vec<usize>>,
        limit: Option<usize>,
        partitions: usize,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if segments.is_empty() {
            return Ok(None);
        }
        let groups = scan::group(segments, partitions);
        let scan = SegmentScan {
            schema: self.schema.clone(),
            promoted: self.promoted.clone(),
            access: self.access.clone(),
            groups,
            selections,
            window: None,
            projection: projection.cloned(),
            limit,
        };
        scan.plan().map(Some)
    }
}

/// Distributes batches over partitions.
fn spread(batches: Vec<RecordBatch>, partitions: usize) -> Vec<Vec<RecordBatch>> {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let partitions = partitions.min(rows / HOT_PARTITION_ROWS).max(1);
    let mut dealt: Vec<(usize, Vec<RecordBatch>)> = vec![(0, Vec::new()); partitions];
    for batch in batches {
        if let Some((rows, list)) = dealt.iter_mut().min_by_key(|(rows, _)| *rows) {
            *rows += batch.num_rows();
            list.push(batch);
        }
    }
    dealt.into_iter().map(|(_, list)| list).collect()
}

#[async_trait]
impl TableProvider for StoreTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// All filters are pushed down inexactly: time prunes segments, and a filter above the scan evaluates all of them again. No
    /// filter is pushed below a choice of rows, which is among all rows.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let pushdown = if self.choice.is_some() {
            TableProviderFilterPushDown::Unsupported
        } else {
            TableProviderFilterPushDown::Inexact
        };
        Ok(vec![pushdown; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let partitions = state.config_options().execution.target_partitions;
        let bounds = time_bounds(filters);
        // Rows that a filter above drops must not count against the limit.
        let limit = limit.filter(|_| filters.is_empty());
        let damaged = self.rows.damaged.iter();
        damaged
            .filter(|segment| segment.overlaps(bounds.from, bounds.to))
            .for_each(|segment| self.missing.note(segment));
        let wanted = self.wanted(projection);
        let rows = self
            .without_others(filters, self.rows_read(bounds)?)
            .await?;
        let mut plans = self.hot(rows.batches, bounds, &wanted, limit, partitions)?;
        let sealed = self.sealed(
            rows.segments,
            rows.selections,
            projection,
            limit,
            partitions,
        )?;
        plans.extend(sealed);
        if plans.len() > 1 {
            return UnionExec::try_new(plans);
        }
        match plans.pop() {
            Some(one) => Ok(one),
            None => Ok(Arc::new(EmptyExec::new(Arc::new(
                self.schema.project(&wanted)?,
            )))),
        }
    }
}
