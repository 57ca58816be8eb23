//! Binding and running one query: memory, limits, statistics.

mod pool;
mod result;
mod stream;
mod threads;

use std::sync::Arc;
use std::time::Instant;

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{FairSpillPool, MemoryPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionContext;
use hindsight_kql::functions::kernel::KernelError;
use hindsight_kql::run::BindError;
use hindsight_kql::work::Work;
use hindsight_kql::{BindOptions, BoundQuery, Catalog, run};
use hindsight_kql_syntax::ast::Query;

use crate::catalog::StoreLeaves;
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::request::TimeRange;
use crate::result::{PartialError, RenderInfo, ResultTable, Statistics};
use pool::QueryPool;
use result::{name_schemas, render, scanned, table, table_render};
use threads::QueryThreads;

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

/// A query to run.
pub(crate) struct Job {
    pub(crate) query: Query,
    /// What spans of diagnostics point into.
    pub(crate) text: String,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) now: i64,
    pub(crate) timespan: Option<TimeRange>,
    pub(crate) limits: Limits,
}

/// What queries spill to disk at most, as a multiple of their memory.
const SPILL_FACTOR: u64 = 4;

/// Runs queries over shared memory, on threads of their own.
#[derive(Debug)]
pub(crate) struct Executor {
    runtime: Arc<RuntimeEnv>,
    memory: usize,
    partitions: usize,
    threads: QueryThreads,
    /// Held by every query that has not ended.
    running: Arc<()>,
}

impl Executor {
    /// An executor with the memory and tasks that `config` grants.
    pub(crate) fn new(config: &EngineConfig) -> Result<Executor, EngineError> {
        let pool = Arc::new(FairSpillPool::new(config.memory));
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(pool)
            .with_max_temp_directory_size(SPILL_FACTOR.saturating_mul(config.memory as u64))
            .build_arc()
            .map_err(|e| failure(&e, config.memory))?;
        Ok(Executor {
            runtime,
            memory: config.memory,
            partitions: config.partitions.max(1),
            threads: QueryThreads::new(config.partitions.max(1))?,
            running: Arc::new(()),
        })
    }

    /// How many queries have not ended: those that were stopped count until their last task is gone.
    pub(crate) fn running(&self) -> usize {
        Arc::strong_count(&self.running) - 1
    }

    /// Binds and runs a query. Dropping the future stops the work.
    pub(crate) async fn run(&self, job: Job) -> Result<Executed, EngineError> {
        let pool = Arc::new(QueryPool::over(
            Arc::clone(&self.runtime.memory_pool),
            Arc::clone(&self.running),
        ));
        let shared = Arc::clone(&pool) as Arc<dyn MemoryPool>;
        let context = self.context(Arc::clone(&shared))?;
        let (started, memory) = (Instant::now(), self.memory);
        let work = async move {
            let mut executed = evaluate(job, &context, memory).await?;
            executed.statistics.execution_time = started.elapsed();
            executed.statistics.memory_peak = pool.peak() as u64;
            Ok(executed)
        };
        self.threads.run(Work::new(shared), work).await
    }

    /// A context for one query over these settings.
    pub(crate) fn context(&self, pool: Arc<dyn MemoryPool>) -> Result<SessionContext, EngineError> {
        let runtime = RuntimeEnvBuilder::from_runtime_env(&self.runtime)
            .with_memory_pool(pool)
            .build_arc()
            .map_err(|e| failure(&e, self.memory))?;
        let config = run::session_config().with_target_partitions(self.partitions);
        Ok(run::session_context_with(config, runtime))
    }
}

async fn evaluate(
    job: Job,
    context: &SessionContext,
    memory: usize,
) -> Result<Executed, EngineError> {
    let options = BindOptions {
        now_ticks: job.now,
        timespan: job.timespan.map(|t| (t.start, t.end)),
        ..BindOptions::default()
    };
    let bound = run::bind_with_rows(&job.query, job.catalog.as_ref(), options, context).await;
    let bound = bound.map_err(|error| match error {
        BindError::Diagnostics(diagnostics) => EngineError::Query {
            text: job.text,
            diagnostics,
        },
        BindError::Run(error) => failure(&error, memory),
    })?;
    let executed = match bound.with_leaves(&StoreLeaves) {
        Ok(bound) => collect(bound, context, job.limits).await,
        Err(error) => Err(error),
    };
    let mut executed = executed.map_err(|e| failure(&e, memory))?;
    name_schemas(&job.query, &mut executed.tables);
    Ok(executed)
}

async fn collect(
    bound: BoundQuery,
    context: &SessionContext,
    limits: Limits,
) -> Result<Executed, DataFusionError> {
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
    let values = run::prepare(bound.steps, context).await?;
    let mut executed = Executed {
        tables: Vec::new(),
        render: table_render(),
        statistics: Statistics::default(),
        partial: None,
    };
    for (index, result) in bound.results.into_iter().enumerate() {
        let plan = run::substitute(result.plan.clone(), &values)?;
        let frame = context.execute_logical_plan(plan).await?;
        let physical = frame.create_physical_plan().await?;
        let (batches, partial) = stream::read(Arc::clone(&physical), context, limits).await?;
        scanned(physical.as_ref(), &mut executed.statistics);
        executed.render = render(&result);
        executed.tables.push(table(index, result, batches));
        executed.partial = executed.partial.or(partial);
    }
    Ok(executed)
}

/// What a failed plan means for the caller. `memory` is the memory of queries.
fn failure(error: &DataFusionError, memory: usize) -> EngineError {
    let root = error.find_root();
    let exceeded = |message: &str| {
        EngineError::ResourcesExceeded(format!(
            "The query needs more memory than queries may use (setting query.memory, {memory} bytes): {message}"
        ))
    };
    match root {
        DataFusionError::ResourcesExhausted(message) => exceeded(message),
        DataFusionError::External(source) => match source.downcast_ref::<KernelError>() {
            Some(KernelError::Failed(message)) => EngineError::Failed(message.clone()),
            _ => EngineError::Internal(error.to_string()),
        },
        // The engine hands this one on as a failure of writing.
        _ if root.to_string().contains(SPILL_LIMIT) => exceeded(&format!(
            "sorting or grouping wrote more than {SPILL_FACTOR} times as much to disk"
        )),
        _ => EngineError::Internal(error.to_string()),
    }
}

/// What the engine's message says when a query has written as much to disk as it may.
const SPILL_LIMIT: &str = "max_temp_directory_size";
