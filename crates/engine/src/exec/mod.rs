//! Binds and runs one query: memory, limits, threads.

pub(crate) mod failure;
mod memory;
pub(crate) mod plans;
pub(crate) mod pool;
pub(crate) mod small;
mod spill;
pub(crate) mod threads;
mod top_rows;

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::execution::memory_pool::MemoryPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::prelude::SessionContext;
use hindsight_kql::addresses::AddressDatabase;
use hindsight_kql::codec::PlanCodec;
use hindsight_kql::run::BindError;
use hindsight_kql::work::Work;
use hindsight_kql::{
    BindOptions, Binding, BoundQuery, BoundResult, Catalog, Column, QueryPrincipal, bind_or_ask,
    run, session,
};
use hindsight_kql_syntax::ast::{Expr, ExprKind, OperatorKind, Query, Statement};
use hindsight_store::Clock;
use tokio::sync::oneshot;

use crate::catalog::{StoreCatalog, StoreLeaves, StoreRandomRows, StoreScans};
use crate::config::EngineConfig;
use crate::deadline::Deadline;
use crate::distributed::{self, DistributeFragments, Distribution, FragmentRequest, QueryNodes};
use crate::error::EngineError;
use crate::producer::{Limits, Optimised, ResultProducer, Run};
use crate::request::TimeRange;
use crate::result::{Checked, ResultColumn};
use crate::stream::{QueryStream, ResultSender};
use failure::failure;
use memory::SharedMemory;
use plans::{PlanCache, PlanKey, PlanPlace};
use pool::QueryPool;
use spill::SPILL_FACTOR;
use threads::QueryThreads;
use top_rows::TopRowsRule;

/// A rule of the physical optimiser.
type PhysicalRule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// The times of a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// `now()`, ticks.
    pub(crate) now: i64,
    /// The time range that the request is restricted to; `None` for all telemetry.
    pub(crate) timespan: Option<TimeRange>,
    /// When the query times out.
    pub(crate) deadline: Deadline,
}

/// A query to run.
pub(crate) struct Job {
    pub(crate) query: Query,
    /// The text that the spans of diagnostics refer to.
    pub(crate) text: String,
    pub(crate) catalog: Arc<dyn Catalog>,
    /// The same tables, if the plan of the query may be that of an earlier request of the same text.
    pub(crate) tables: Option<Arc<StoreCatalog>>,
    pub(crate) times: Times,
    /// Values of query parameters, as text.
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) limits: Limits,
    /// The principal that runs the query: the processors are shared between principals.
    pub(crate) principal: Arc<str>,
    /// The principal as the query sees it.
    pub(crate) sender: Option<Arc<QueryPrincipal>>,
    /// The host and port by which the client reaches the server.
    pub(crate) endpoint: Option<Arc<str>>,
}

/// Runs queries over shared memory, on dedicated threads.
#[derive(Debug)]
pub(crate) struct Executor {
    runtime: Arc<RuntimeEnv>,
    memory: usize,
    pub(crate) partitions: usize,
    threads: QueryThreads,
    /// The rules that optimise plans behind those of the language.
    pub(crate) rules: Vec<PhysicalRule>,
    /// The other nodes, and as [`EngineConfig::distribute_bytes`].
    nodes: Option<(Arc<dyn QueryNodes>, u64)>,
    /// The codec of fragments.
    codec: Arc<PlanCodec>,
    /// The plans of repeated queries, if they are kept.
    plans: Option<Arc<PlanCache>>,
    /// What queries look addresses up in.
    addresses: Option<Arc<AddressDatabase>>,
    /// Measures how long queries take.
    clock: Arc<dyn Clock>,
    /// Held by every query that has not ended.
    running: Arc<()>,
}

impl Executor {
    /// An executor with the memory and partitions of `config`. `codec` is that of fragments.
    pub(crate) fn new(
        config: &EngineConfig,
        clock: Arc<dyn Clock>,
        codec: PlanCodec,
    ) -> Result<Executor, EngineError> {
        let pool = Arc::new(SharedMemory::new(config.memory));
        let spill_limit = SPILL_FACTOR.saturating_mul(config.memory as u64);
        let runtime = spill::disk_manager(spill_limit, config.spill_folder.as_deref())
            .and_then(|disk| {
                RuntimeEnvBuilder::new()
                    .with_memory_pool(pool)
                    .with_disk_manager_builder(disk)
                    .build_arc()
            })
            .map_err(|e| failure(&e, config.memory))?;
        let partitions = config.partitions.max(1);
        Ok(Executor {
            runtime,
            memory: config.memory,
            partitions,
            threads: QueryThreads::new(partitions),
            rules: rules(config),
            nodes: config
                .nodes
                .clone()
                .map(|nodes| (nodes, config.distribute_bytes)),
            codec: Arc::new(codec),
            plans: config.keep_plans.then(Arc::default),
            addresses: config.addresses.clone(),
            clock,
            running: Arc::new(()),
        })
    }

    /// How many plans are kept for later requests.
    pub(crate) fn kept_plans(&self) -> usize {
        self.plans.as_ref().map_or(0, |plans| plans.len())
    }

    /// How many queries run; a cancelled one counts until its last task has ended.
    pub(crate) fn running(&self) -> usize {
        Arc::strong_count(&self.running) - 1
    }

    /// Binds a query and starts it. Dropping the future, or the stream that it returns, cancels the query.
    pub(crate) async fn start(&self, job: Job) -> Result<QueryStream, EngineError> {
        let shared = Arc::clone(&self.runtime.memory_pool);
        let pool = Arc::new(QueryPool::over(shared, Arc::clone(&self.running)));
        let reserved = Arc::clone(&pool) as Arc<dyn MemoryPool>;
        let results = Arc::new(pool.for_results());
        let distribution = self.distribution(&job);
        let run = Run {
            distributes: distribution.is_some(),
            context: self.context(Arc::clone(&reserved), distribution)?,
            pool,
            memory: self.memory,
            limits: job.limits,
            started: self.clock.elapsed(),
            clock: Arc::clone(&self.clock),
        };
        let deadline = job.times.deadline;
        let of = Work::with_addresses(reserved, self.addresses.clone());
        let principal = Arc::clone(&job.principal);
        let place = self.place(&job);
        let spawn = |sender| {
            self.threads
                .spawn(&principal, of, deadline, work(job, place, run, sender))
        };
        QueryStream::start(spawn, deadline, results, self.memory).await
    }

    /// Binds a query and runs nothing. Dropping the future cancels it.
    pub(crate) async fn check(&self, job: Job) -> Result<Checked, EngineError> {
        let shared = Arc::clone(&self.runtime.memory_pool);
        let pool = Arc::new(QueryPool::over(shared, Arc::clone(&self.running)));
        let of = Work::with_addresses(pool, self.addresses.clone());
        let (principal, deadline) = (Arc::clone(&job.principal), job.times.deadline);
        let (sender, receiver) = oneshot::channel();
        let work = async move {
            // Without a receiver the check was cancelled.
            let _ = sender.send(checked(job));
        };
        self.threads
            .spawn(&principal, of, deadline, work)?
            .end()
            .await?;
        let checked = receiver.await;
        checked.map_err(|_| EngineError::Internal("a check without a result".to_owned()))
    }

    /// Runs a fragment of another node's query. Dropping the future, or the stream that it returns, cancels it.
    pub(crate) async fn run_fragment(
        &self,
        request: FragmentRequest,
    ) -> Result<QueryStream, EngineError> {
        let shared = Arc::clone(&self.runtime.memory_pool);
        let pool = Arc::new(QueryPool::over(shared, Arc::clone(&self.running)));
        let reserved = Arc::clone(&pool) as Arc<dyn MemoryPool>;
        let results = Arc::new(pool.for_results());
        let context = self.context(Arc::clone(&reserved), None)?.task_ctx();
        let deadline = Deadline::after(request.timeout);
        let of = Work::with_addresses(reserved, self.addresses.clone());
        let (codec, rules, memory) = (Arc::clone(&self.codec), self.rules.clone(), self.memory);
        let principal = Arc::clone(&request.principal);
        let spawn = |sender: ResultSender| {
            let work = async move {
                let ran = distributed::run(&request.message, &codec, &rules, context, &sender);
                if let Err(error) = ran.await {
                    sender.fail(failure(&error, memory)).await;
                }
            };
            self.threads.spawn(&principal, of, deadline, work)
        };
        QueryStream::start(spawn, deadline, results, self.memory).await
    }

    /// The place of a query among the plans that are kept.
    fn place(&self, job: &Job) -> Option<PlanPlace> {
        let (plans, catalog) = (self.plans.as_ref()?, job.tables.as_ref()?);
        let timespan = job.times.timespan;
        // A later request for the time until now has another timespan.
        if timespan.is_some_and(|range| range.end == job.times.now) {
            return None;
        }
        let timespan = timespan.map(|range| (range.start, range.end));
        let key = PlanKey::new(&job.text, catalog, &job.parameters, timespan);
        PlanPlace::of(plans, catalog, key)
    }

    /// Where a query may run beside this node.
    fn distribution(&self, job: &Job) -> Option<Arc<Distribution>> {
        let (nodes, least_bytes) = self.nodes.as_ref()?;
        let of = (&job.principal, job.times.deadline);
        let reads = (*least_bytes, self.partitions);
        Distribution::over(nodes, reads, &self.codec, &self.rules, of)
    }

    /// A session for one query.
    pub(crate) fn context(
        &self,
        pool: Arc<dyn MemoryPool>,
        distribution: Option<Arc<Distribution>>,
    ) -> Result<SessionContext, EngineError> {
        let runtime = RuntimeEnvBuilder::from_runtime_env(&self.runtime)
            .with_memory_pool(pool)
            .build_arc()
            .map_err(|e| failure(&e, self.memory))?;
        // Aggregations are planned in two phases where there are two partitions.
        let least = if distribution.is_some() { 2 } else { 1 };
        let config = session::config().with_target_partitions(self.partitions.max(least));
        let mut rules: Vec<PhysicalRule> = Vec::new();
        if let Some(distribution) = distribution {
            rules.push(Arc::new(DistributeFragments(distribution)));
        }
        rules.extend(self.rules.iter().cloned());
        session::context_over(config, runtime, rules)
            .map_err(|missing| EngineError::Internal(missing.to_string()))
    }
}

/// The rules of scans of the store.
fn rules(config: &EngineConfig) -> Vec<PhysicalRule> {
    let mut rules: Vec<PhysicalRule> = Vec::new();
    if config.group_by_codes {
        rules.push(session::group_by_codes(Arc::new(StoreScans)));
    }
    if config.top_rows {
        rules.push(Arc::new(TopRowsRule));
    }
    rules
}

/// Runs a query and sends its results.
async fn work(job: Job, place: Option<PlanPlace>, run: Run, sender: ResultSender) {
    match bind(job, place, run).await {
        Ok(producer) => producer.send_to(sender).await,
        Err(error) => sender.fail(error).await,
    }
}

/// What binding tells of a query.
fn checked(job: Job) -> Checked {
    let (query, catalog) = (job.query.clone(), Arc::clone(&job.catalog));
    let bound = match bind_or_ask(&query, catalog.as_ref(), &options(job)) {
        Ok(Binding::Bound(bound)) => bound,
        Ok(Binding::NeedsRows(_)) => return Checked::Valid(None),
        Err(diagnostics) => return Checked::Invalid(diagnostics),
    };
    let names = names(&query, &bound);
    let columns = |result: BoundResult| {
        let columns = result.columns.into_iter();
        let column = |column: Column| ResultColumn {
            name: column.name,
            kind: column.kind,
        };
        columns.map(column).collect()
    };
    let results = bound.results.into_iter().map(columns);
    Checked::Valid(Some(names.into_iter().zip(results).collect()))
}

fn options(job: Job) -> BindOptions {
    BindOptions {
        now_ticks: job.times.now,
        parameters: job.parameters.into_iter().collect(),
        timespan: job.times.timespan.map(|t| (t.start, t.end)),
        principal: job.sender,
        endpoint: job.endpoint,
        ..BindOptions::default()
    }
}

/// Binds a query, or finds its plan in `place`, and runs the steps that its results depend on.
async fn bind(job: Job, place: Option<PlanPlace>, run: Run) -> Result<ResultProducer, EngineError> {
    if let Some((query, name)) = place.as_ref().and_then(PlanPlace::find) {
        return ResultProducer::start(query, vec![name], Optimised::Before, run).await;
    }
    let (query, catalog, text) = (
        job.query.clone(),
        Arc::clone(&job.catalog),
        job.text.clone(),
    );
    let bound = run::bind_with_rows(&query, catalog.as_ref(), options(job), &run.context)
        .await
        .map_err(|error| match error {
            BindError::Diagnostics(diagnostics) => EngineError::Query { text, diagnostics },
            BindError::Run(error) => failure(&error, run.memory),
        })?
        .with_random_rows(&StoreRandomRows)
        .and_then(|bound| bound.with_leaves(&StoreLeaves))
        .map_err(|e| failure(&e, run.memory))?;
    let names = names(&query, &bound);
    let keeper = place.and_then(|place| place.keeper(&bound));
    ResultProducer::start(bound, names, Optimised::Later(keeper), run).await
}

/// The name of each result: its own name, or one by its position. A result that ends in `getschema` has the operator's name
/// (`docs/api-facts.md §3`).
fn names(query: &Query, bound: &BoundQuery) -> Vec<String> {
    let written: Vec<&Expr> = query
        .statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Expression(expr) => Some(expr),
            _ => None,
        })
        .collect();
    // `fork` and `facet` produce several results for one statement; those keep their own names.
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
