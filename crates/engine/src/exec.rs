//! Binding and running one query: memory, limits, statistics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use arrow::record_batch::RecordBatch;
use datafusion::catalog::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryPool, MemoryReservation,
};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use hindsight_kql::functions::kernel::KernelError;
use hindsight_kql::run::BindError;
use hindsight_kql::{BindOptions, BoundQuery, BoundResult, Catalog, run};
use hindsight_kql_syntax::ast::{
    Expr, ExprKind, Literal, OperatorKind, Query, RenderOperator, Statement,
};

use crate::catalog::StoreLeaves;
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::request::TimeRange;
use crate::result::{PartialError, RenderInfo, ResultColumn, ResultTable, Statistics};

/// The most that a result may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Rows.
    pub(crate) rows: u64,
    /// Bytes of Arrow data.
    pub(crate) bytes: u64,
}

/// What running a query gave.
#[derive(Debug)]
pub(crate) struct Executed {
    /// The results.
    pub(crate) tables: Vec<ResultTable>,
    /// How the last one wants to be shown.
    pub(crate) render: RenderInfo,
    /// What it cost.
    pub(crate) statistics: Statistics,
    /// What was cut.
    pub(crate) partial: Option<PartialError>,
}

/// Runs queries over shared memory.
#[derive(Debug)]
pub(crate) struct Executor {
    runtime: Arc<RuntimeEnv>,
    partitions: usize,
}

impl Executor {
    /// An executor with the memory and tasks that `config` grants.
    pub(crate) fn new(config: &EngineConfig) -> Result<Executor, EngineError> {
        let pool = Arc::new(FairSpillPool::new(config.memory));
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(pool)
            .build_arc()
            .map_err(|e| failure(&e))?;
        Ok(Executor {
            runtime,
            partitions: config.partitions.max(1),
        })
    }

    /// Binds and runs `query`. `text` is what spans of diagnostics point into. Dropping the future stops the work.
    pub(crate) async fn run(
        &self,
        query: &Query,
        text: &str,
        catalog: &dyn Catalog,
        now: i64,
        timespan: Option<TimeRange>,
        limits: Limits,
    ) -> Result<Executed, EngineError> {
        let started = Instant::now();
        let options = BindOptions {
            now_ticks: now,
            timespan: timespan.map(|t| (t.start, t.end)),
            ..BindOptions::default()
        };
        let pool = Arc::new(QueryPool::over(Arc::clone(&self.runtime.memory_pool)));
        let context = self.context(Arc::clone(&pool) as Arc<dyn MemoryPool>)?;
        let bound = run::bind_with_rows(query, catalog, options, &context)
            .await
            .map_err(|error| match error {
                BindError::Diagnostics(diagnostics) => EngineError::Query {
                    text: text.to_owned(),
                    diagnostics,
                },
                BindError::Run(error) => failure(&error),
            })?
            .with_leaves(&StoreLeaves)
            .map_err(|e| failure(&e))?;
        let mut executed = collect(bound, &context, limits).await?;
        name_schemas(query, &mut executed.tables);
        executed.statistics.execution_time = started.elapsed();
        executed.statistics.memory_peak = pool.peak() as u64;
        Ok(executed)
    }

    /// A context for one query over these settings.
    pub(crate) fn context(&self, pool: Arc<dyn MemoryPool>) -> Result<SessionContext, EngineError> {
        let runtime = RuntimeEnvBuilder::from_runtime_env(&self.runtime)
            .with_memory_pool(pool)
            .build_arc()
            .map_err(|e| failure(&e))?;
        let config = run::session_config().with_target_partitions(self.partitions);
        Ok(run::session_context_with(config, runtime))
    }
}

/// A result that ends in `getschema` has the operator's name (`api-facts.md §3`).
fn name_schemas(query: &Query, tables: &mut [ResultTable]) {
    let results: Vec<&Expr> = query
        .statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Expression(expr) => Some(expr),
            _ => None,
        })
        .collect();
    // Forks and facets give several tables for one statement; those keep their own names.
    if results.len() != tables.len() {
        return;
    }
    for (expr, table) in results.into_iter().zip(tables) {
        if let ExprKind::Pipe(pipeline) = &expr.unparenthesised().kind
            && let Some(last) = pipeline.operators.last()
            && matches!(last.kind, OperatorKind::GetSchema(_))
        {
            table.name = "getschema".to_owned();
        }
    }
}

async fn collect(
    bound: BoundQuery,
    context: &SessionContext,
    limits: Limits,
) -> Result<Executed, EngineError> {
    let limits = Limits {
        rows: bound
            .settings
            .truncation_max_records()
            .map_or(limits.rows, |n| n.min(limits.rows)),
        bytes: bound
            .settings
            .truncation_max_size()
            .map_or(limits.bytes, |n| n.min(limits.bytes)),
    };
    let values = run::prepare(bound.steps, context)
        .await
        .map_err(|e| failure(&e))?;
    let mut executed = Executed {
        tables: Vec::new(),
        render: table_render(),
        statistics: Statistics::default(),
        partial: None,
    };
    for (index, result) in bound.results.into_iter().enumerate() {
        let plan = run::substitute(result.plan.clone(), &values).map_err(|e| failure(&e))?;
        let frame = context
            .execute_logical_plan(plan)
            .await
            .map_err(|e| failure(&e))?;
        let physical = frame
            .create_physical_plan()
            .await
            .map_err(|e| failure(&e))?;
        let (batches, partial) = stream(Arc::clone(&physical), context, limits).await?;
        scanned(physical.as_ref(), &mut executed.statistics);
        executed.render = render(&result);
        executed.tables.push(table(index, result, batches));
        executed.partial = executed.partial.or(partial);
    }
    Ok(executed)
}

/// Reads a plan's rows until a limit is met; the rest is not computed.
async fn stream(
    plan: Arc<dyn ExecutionPlan>,
    context: &SessionContext,
    limits: Limits,
) -> Result<(Vec<RecordBatch>, Option<PartialError>), EngineError> {
    let mut stream = execute_stream(plan, context.task_ctx()).map_err(|e| failure(&e))?;
    let (mut rows, mut bytes, mut batches) = (0_u64, 0_u64, Vec::new());
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(|e| failure(&e))?;
        let left = usize::try_from(limits.rows - rows).unwrap_or(usize::MAX);
        if batch.num_rows() > left {
            batches.push(batch.slice(0, left));
            return Ok((batches, Some(too_large("record count", limits.rows))));
        }
        bytes += data_bytes(&batch);
        if bytes > limits.bytes {
            let room = limits.bytes - (bytes - data_bytes(&batch));
            batches.push(batch.slice(0, rows_within(&batch, room)));
            return Ok((batches, Some(too_large("data size", limits.bytes))));
        }
        rows += batch.num_rows() as u64;
        if batch.num_rows() > 0 {
            batches.push(batch);
        }
    }
    Ok((batches, None))
}

/// The bytes of the rows themselves: views share their buffers with other batches, so buffers are not counted whole.
fn data_bytes(batch: &RecordBatch) -> u64 {
    use arrow::array::AsArray;
    use arrow::datatypes::DataType;
    let column = |array: &arrow::array::ArrayRef| match array.data_type() {
        DataType::Utf8View => array.as_string_view().lengths().map(u64::from).sum(),
        DataType::BinaryView => array.as_binary_view().lengths().map(u64::from).sum(),
        other => (other.primitive_width().unwrap_or(1) * array.len()) as u64,
    };
    batch.columns().iter().map(column).sum()
}

/// How many rows from the first fit into `room` bytes.
fn rows_within(batch: &RecordBatch, room: u64) -> usize {
    let (mut fits, mut over) = (0, batch.num_rows());
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        match data_bytes(&batch.slice(0, middle)) <= room {
            true => fits = middle,
            false => over = middle,
        }
    }
    fits
}

fn too_large(what: &str, limit: u64) -> PartialError {
    PartialError {
        message: format!(
            "Query result set has exceeded the internal {what} limit {limit} (E_QUERY_RESULT_SET_TOO_LARGE; see https://aka.ms/kustoquerylimits)"
        ),
    }
}

fn table(index: usize, result: BoundResult, batches: Vec<RecordBatch>) -> ResultTable {
    let first = if index == 0 {
        "PrimaryResult".to_owned()
    } else {
        format!("Table_{index}")
    };
    ResultTable {
        name: result.name.unwrap_or(first),
        columns: result
            .columns
            .into_iter()
            .map(|c| ResultColumn {
                name: c.name,
                kind: c.kind,
            })
            .collect(),
        batches,
    }
}

fn table_render() -> RenderInfo {
    RenderInfo {
        visualization: "table".to_owned(),
        ..RenderInfo::default()
    }
}

fn render(result: &BoundResult) -> RenderInfo {
    let Some(node) = &result.render else {
        return RenderInfo {
            is_query_sorted: result.sorted,
            ..table_render()
        };
    };
    RenderInfo {
        visualization: node.kind.text.clone(),
        properties: properties(node),
        is_query_sorted: result.sorted,
    }
}

fn properties(node: &RenderOperator) -> Vec<(String, String)> {
    let property = |p: &hindsight_kql_syntax::ast::RenderProperty| {
        let values: Vec<String> = p.values.iter().map(word).collect();
        (p.name.text.clone(), values.join(", "))
    };
    let mut properties: Vec<(String, String)> = node.properties.iter().map(property).collect();
    if !node.by.is_empty() {
        let names: Vec<&str> = node.by.iter().map(|name| name.text.as_str()).collect();
        properties.push(("by".to_owned(), names.join(", ")));
    }
    properties
}

fn word(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.text.clone(),
        ExprKind::Literal(Literal::String(text)) => text.clone(),
        _ => expr.to_string(),
    }
}

/// Adds what the leaves of an executed plan read.
fn scanned(plan: &dyn ExecutionPlan, statistics: &mut Statistics) {
    if let Some(rows) = rows_in_memory(plan) {
        statistics.rows_scanned += rows as u64;
    } else if plan.children().is_empty()
        && let Some(metrics) = plan.metrics()
    {
        statistics.rows_scanned += metrics.output_rows().unwrap_or(0) as u64;
        statistics.bytes_scanned += metrics
            .sum_by_name("bytes_scanned")
            .map_or(0, |v| v.as_usize()) as u64;
    }
    for child in plan.children() {
        scanned(child.as_ref(), statistics);
    }
}

/// The rows of a scan of memory, which keeps no metrics.
fn rows_in_memory(plan: &dyn ExecutionPlan) -> Option<usize> {
    let source = plan.downcast_ref::<DataSourceExec>()?.data_source();
    let memory = source.downcast_ref::<MemorySourceConfig>()?;
    let rows = memory.partitions().iter().flatten();
    Some(rows.map(RecordBatch::num_rows).sum())
}

/// What a failed plan means for the caller.
fn failure(error: &DataFusionError) -> EngineError {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(message) => EngineError::ResourcesExceeded(format!(
            "The query needs more memory than queries may use (setting query.memory): {message}"
        )),
        DataFusionError::External(source) => match source.downcast_ref::<KernelError>() {
            Some(KernelError::Failed(message)) => EngineError::Failed(message.clone()),
            _ => EngineError::Internal(error.to_string()),
        },
        _ => EngineError::Internal(error.to_string()),
    }
}

/// The memory of one query, taken from the memory of all; it remembers the most that was reserved.
#[derive(Debug)]
struct QueryPool {
    shared: Arc<dyn MemoryPool>,
    reserved: AtomicUsize,
    peak: AtomicUsize,
}

impl QueryPool {
    fn over(shared: Arc<dyn MemoryPool>) -> QueryPool {
        QueryPool {
            shared,
            reserved: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        }
    }

    fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        let now = self.reserved.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }
}

impl std::fmt::Display for QueryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "query memory over {}", self.shared)
    }
}

impl MemoryPool for QueryPool {
    fn name(&self) -> &str {
        "query"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.shared.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.shared.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.shared.grow(reservation, additional);
        self.add(additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.shared.shrink(reservation, shrink);
        self.reserved.fetch_sub(shrink, Ordering::Relaxed);
    }

    fn try_grow(
        &self,
        reservation: &MemoryReservation,
        additional: usize,
    ) -> datafusion::error::Result<()> {
        self.shared.try_grow(reservation, additional)?;
        self.add(additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.reserved.load(Ordering::Relaxed)
    }
}
