//! Binding and running one query: memory, limits, statistics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use datafusion::common::DataFusionError;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryPool, MemoryReservation,
};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionContext;
use hindsight_kql::functions::kernel::KernelError;
use hindsight_kql::run::BindError;
use hindsight_kql::{BindOptions, BoundQuery, BoundResult, Catalog, run};
use hindsight_kql_syntax::ast::{Expr, ExprKind, OperatorKind, Query, Statement};

use crate::catalog::StoreLeaves;
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::request::TimeRange;
use crate::stream::{Deadline, QueryStream, Run};

/// What a query has to know of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// `now()`, ticks.
    pub(crate) now: i64,
    /// The part of the telemetry that the request is about; all of it where none is said.
    pub(crate) timespan: Option<TimeRange>,
    /// When it has to be done.
    pub(crate) deadline: Deadline,
}

/// The most that a result may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Rows.
    pub(crate) rows: u64,
    /// Bytes of Arrow data.
    pub(crate) bytes: u64,
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

    /// Binds `query` and begins to run it. `text` is what spans of diagnostics point into. Dropping the future, or the
    /// stream that it gives, stops the work.
    pub(crate) async fn start(
        &self,
        query: &Query,
        text: &str,
        catalog: &dyn Catalog,
        times: Times,
        limits: Limits,
    ) -> Result<QueryStream, EngineError> {
        let options = BindOptions {
            now_ticks: times.now,
            timespan: times.timespan.map(|t| (t.start, t.end)),
            ..BindOptions::default()
        };
        let pool = Arc::new(QueryPool::over(Arc::clone(&self.runtime.memory_pool)));
        let run = Run {
            context: self.context(Arc::clone(&pool) as Arc<dyn MemoryPool>)?,
            pool,
            limits,
            deadline: times.deadline,
            started: Instant::now(),
        };
        let work = async {
            let bound = run::bind_with_rows(query, catalog, options, &run.context)
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
            let names = names(query, &bound);
            QueryStream::start(bound, names, run).await
        };
        times.deadline.bound(work).await
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

/// What each result is called: its own name, or by its place. One that ends in `getschema` has the operator's name
/// (`api-facts.md §3`).
fn names(query: &Query, bound: &BoundQuery) -> Vec<String> {
    let written: Vec<&Expr> = query
        .statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Expression(expr) => Some(expr),
            _ => None,
        })
        .collect();
    // Forks and facets give several tables for one statement; those keep their own names.
    let matched = written.len() == bound.results.len();
    let name = |(index, result): (usize, &BoundResult)| {
        if matched && written.get(index).is_some_and(|expr| ends_in_schema(expr)) {
            return "getschema".to_owned();
        }
        let place = if index == 0 {
            "PrimaryResult".to_owned()
        } else {
            format!("Table_{index}")
        };
        result.name.clone().unwrap_or(place)
    };
    bound.results.iter().enumerate().map(name).collect()
}

fn ends_in_schema(expr: &Expr) -> bool {
    let ExprKind::Pipe(pipeline) = &expr.unparenthesised().kind else {
        return false;
    };
    let last = pipeline.operators.last();
    last.is_some_and(|last| matches!(last.kind, OperatorKind::GetSchema(_)))
}

/// What a failed plan means for the caller.
pub(crate) fn failure(error: &DataFusionError) -> EngineError {
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
pub(crate) struct QueryPool {
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

    /// The most bytes that were reserved at once.
    pub(crate) fn peak(&self) -> usize {
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
