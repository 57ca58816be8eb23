//! The source of a scan of segments: DataFusion's Parquet source with the column cache before it.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use arrow::datatypes::{Field, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::physical_plan::{
    FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr::{
    DynamicFilterTracking, EquivalenceProperties, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter_pushdown::FilterPushdownPropagation;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, SortOrderPushdownResult};
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::morsel::Morselizer;
use object_store::ObjectStore;

use super::bounds::bounds_of;
use super::latest::Latest;
use super::loading::{Loading, Scanned};
use super::morselizer::SegmentMorselizer;
use super::partition_scan::PartitionScan;
use super::read_ahead::ReadAhead;
use super::scan_plan::ScanPlan;
use super::top_rows::{TopBound, TopRows};
use crate::promote::PromotedColumn;
use crate::segment::{Segment, SegmentAccess};
use crate::time_range::TimeRange;

/// Reads segments from the column cache where that is possible, and as `parquet` does elsewhere. All that DataFusion's optimiser pushes
/// into the source is kept by `parquet`.
#[derive(Clone)]
pub(crate) struct SegmentSource {
    parquet: Arc<dyn FileSource>,
    access: Arc<SegmentAccess>,
    /// The promoted columns of the table's schema.
    promoted: Arc<[PromotedColumn]>,
    batch_size: usize,
    /// The rows that the plan above needs, if it needs no others.
    latest: Option<Arc<Latest>>,
    /// The bound of a sort above the scan that returns its first rows only.
    top: Option<Arc<TopBound>>,
}

impl SegmentSource {
    /// `parquet` with the column cache of `access` before it.
    pub(crate) fn new(
        parquet: Arc<dyn FileSource>,
        access: Arc<SegmentAccess>,
        promoted: Arc<[PromotedColumn]>,
    ) -> SegmentSource {
        SegmentSource {
            parquet,
            access,
            promoted,
            batch_size: 8192,
            latest: None,
            top: None,
        }
    }

    /// The columns of the table and the promoted ones behind them.
    pub(crate) fn table(&self) -> &SchemaRef {
        self.parquet.table_schema().table_schema()
    }

    /// The promoted columns of [`SegmentSource::table`].
    pub(crate) fn promoted(&self) -> &[PromotedColumn] {
        &self.promoted
    }

    /// The condition of the rows that are returned.
    pub(crate) fn predicate(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.parquet.filter()
    }

    /// The times that a row can have which meets the condition.
    pub(crate) fn permitted_times(&self) -> TimeRange {
        let condition = self.parquet.filter();
        condition.map_or(TimeRange::ALL, |condition| bounds_of(condition.as_ref()))
    }

    /// What is returned of each row, over [`SegmentSource::table`].
    pub(crate) fn outputs(&self) -> Option<Vec<ProjectionExpr>> {
        Some(self.parquet.projection()?.iter().cloned().collect())
    }

    /// A source of all columns with this condition and these outputs.
    pub(crate) fn with_outputs(
        &self,
        predicate: Option<Arc<dyn PhysicalExpr>>,
        outputs: Vec<ProjectionExpr>,
    ) -> Result<SegmentSource> {
        let parquet = self.parquet.downcast_ref::<ParquetSource>();
        let mut parquet = parquet.cloned().ok_or_else(|| {
            DataFusionError::Internal("segments are read by another source".to_owned())
        })?;
        if let Some(predicate) = predicate {
            parquet = parquet.with_predicate(predicate);
        }
        let projected = parquet.try_pushdown_projection(&ProjectionExprs::new(outputs))?;
        Ok(SegmentSource {
            parquet: projected.ok_or_else(|| {
                DataFusionError::Internal("the columns of a scan cannot be chosen".to_owned())
            })?,
            ..self.clone()
        })
    }

    /// The same without rows that are no later than one before with the same texts; `None` if the rows depend on more than the conditions.
    pub(super) fn with_latest(&self, keys: Vec<String>, time: String) -> Option<SegmentSource> {
        let filter = self.parquet.filter();
        let is_dynamic = |filter| DynamicFilterTracking::classify(filter).contains_dynamic_filter();
        if filter.as_ref().is_some_and(is_dynamic) {
            return None;
        }
        Some(SegmentSource {
            latest: Some(Arc::new(Latest::new(keys, time))),
            ..self.clone()
        })
    }

    /// The source under a sort that returns its first rows only; `None` if the bound of the sort cannot be computed.
    fn with_top(&self, top: &TopRows) -> Option<SegmentSource> {
        let output = self.parquet.projection()?.iter().nth(top.column)?;
        let column = output.expr.downcast_ref::<Column>()?.index();
        let field = self.parquet.table_schema().table_schema().field(column);
        let bound = TopBound::new(column, field, top)?;
        let parquet = match &bound.filter {
            Some(filter) => {
                let parquet = self.parquet.downcast_ref::<ParquetSource>()?.clone();
                Arc::new(parquet.with_predicate(filter.with(self.parquet.filter())))
            }
            None => Arc::clone(&self.parquet),
        };
        Some(SegmentSource {
            parquet,
            top: Some(Arc::new(bound)),
            ..self.clone()
        })
    }

    /// Whether the column cache holds the codes of a column for most rows of these segments.
    pub(super) fn has_codes(&self, segments: &[&Segment], column: &str) -> bool {
        let rows = |segments: &mut dyn Iterator<Item = &&Segment>| -> u64 {
            segments.map(|segment| segment.record.rows).sum()
        };
        let all = rows(&mut segments.iter());
        let columns = &self.access.columns;
        let mut coded = segments
            .iter()
            .filter(|segment| columns.has_codes(segment.record.id, column));
        rows(&mut coded) * 2 > all
    }

    fn with(&self, parquet: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(SegmentSource {
            parquet,
            ..self.clone()
        })
    }
}

/// The scan `plan` under a sort that returns its first rows only: it returns no rows that the sort surely drops. `None` if `plan` does not read
/// segments through the column cache, or if the bound of such a sort cannot be computed.
pub fn with_top_rows(plan: &dyn ExecutionPlan, top: &TopRows) -> Option<Arc<dyn ExecutionPlan>> {
    let source = plan.downcast_ref::<DataSourceExec>()?.data_source();
    let scan = source.downcast_ref::<FileScanConfig>()?;
    let segments = scan.file_source().downcast_ref::<SegmentSource>()?;
    let segments = segments.with_top(top)?;
    let scan = FileScanConfigBuilder::from(scan.clone()).with_source(Arc::new(segments));
    Some(DataSourceExec::from_data_source(scan.build()))
}

impl FileSource for SegmentSource {
    fn create_file_opener(
        &self,
        object_store: Arc<dyn ObjectStore>,
        base_config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        self.parquet
            .create_file_opener(object_store, base_config, partition)
    }

    fn create_morselizer(
        &self,
        object_store: Arc<dyn ObjectStore>,
        base_config: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        let parquet = self
            .parquet
            .create_morselizer(object_store, base_config, partition)?;
        let Some(projection) = self.parquet.projection() else {
            return Ok(parquet);
        };
        let table = self.parquet.table_schema().table_schema();
        let predicate = self.parquet.filter();
        let plan = ScanPlan::new(table, predicate.as_ref(), projection, self.top.clone())?;
        let Some(mut plan) = plan else {
            return Ok(parquet);
        };
        if let Some(latest) = &self.latest {
            plan.latest = latest.open(partition, table);
        }
        let files = base_config.file_groups.iter().flat_map(|g| g.files());
        let segments = files.filter_map(|file| file.extension::<Arc<Segment>>());
        let segments: Vec<&Arc<Segment>> = segments.collect();
        let scanned: Vec<Scanned> = segments.iter().map(|s| Scanned::from(*s)).collect();
        // A few rows of a table are read from its first pages.
        let is_sample = base_config.limit.is_some() && plan.conditions.is_empty();
        let loading = if is_sample {
            Loading::NONE
        } else {
            Loading::of(&plan, &scanned, &self.access.columns)
        };
        // Who wants a few rows may read one segment only.
        let group = base_config.file_groups.get(partition);
        let group = group.filter(|_| base_config.limit.is_none() && self.top.is_none());
        let ahead = ReadAhead::of(group.iter().flat_map(|group| group.files()));
        let ids: Vec<i64> = segments.iter().map(|segment| segment.record.id).collect();
        let columns = plan.columns().into_iter().map(|c| plan.table.field(c));
        let columns: Vec<&Field> = columns.collect();
        let large = loading.is_whole()
            && self
                .access
                .columns
                .admits_large(&ids, &columns, plan.bounds());
        Ok(Box::new(SegmentMorselizer {
            scan: Arc::new(PartitionScan {
                loading,
                may_load_large: large,
                plan,
                access: Arc::clone(&self.access),
                parquet,
                metrics: self.parquet.metrics().clone(),
                partition,
                batch_size: self.batch_size,
                ahead,
                files: match &self.top {
                    Some(_) => base_config.file_groups.clone(),
                    None => Vec::new(),
                },
            }),
        }))
    }

    fn table_schema(&self) -> &TableSchema {
        self.parquet.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(SegmentSource {
            parquet: self.parquet.with_batch_size(batch_size),
            batch_size,
            ..self.clone()
        })
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.parquet.filter()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.parquet.projection()
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.parquet.metrics()
    }

    fn file_type(&self) -> &str {
        self.parquet.file_type()
    }

    fn fmt_extra(&self, kind: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        self.parquet.fmt_extra(kind, f)?;
        match &self.top {
            Some(top) => write!(f, ", top_rows={}", top.rows),
            None => Ok(()),
        }
    }

    fn supports_repartitioning(&self) -> bool {
        self.parquet.supports_repartitioning()
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let pushed = self.parquet.try_pushdown_filters(filters, config)?;
        Ok(FilterPushdownPropagation {
            filters: pushed.filters,
            updated_node: pushed.updated_node.map(|parquet| self.with(parquet)),
        })
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        let pushed = self.parquet.try_pushdown_sort(order, properties)?;
        Ok(pushed.map(|parquet| self.with(parquet)))
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        self.parquet.reorder_files(files)
    }

    fn try_pushdown_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn FileSource>>> {
        let pushed = self.parquet.try_pushdown_projection(projection)?;
        Ok(pushed.map(|parquet| self.with(parquet)))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.parquet.apply_expressions(f)
    }
}
