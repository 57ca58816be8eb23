//! The engine: resolves applications, asks the cache, translates, runs, assembles.

use std::sync::Arc;
use std::time::Duration;

use hindsight_kql::Catalog;
use hindsight_kql_syntax::ast::Query;
use hindsight_kql_types::ScalarType;
use hindsight_kql_types::ticks::TICKS_PER_SECOND;
use hindsight_store::{AppId, Clock, Store};

use crate::cache::{Cached, ResponseCache};
use crate::catalog::{KnownApp, StoreCatalog, find_permitted};
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::events;
use crate::exec::{Executed, Executor, Job, Limits};
use crate::metrics::{self, MetricPlan};
use crate::request::{
    Access, CacheControl, Caller, EventParameters, EventsParameters, MetricParameters,
    QueryRequest, TimeRange,
};
use crate::result::{
    Answer, EventsResult, MetricBody, MetricResult, QueryResult, ResultColumn, ResultTable,
};
use crate::time::{format_duration, parse_period};

/// Answers the three families of operations over one store.
#[derive(Debug)]
pub struct QueryEngine {
    store: Arc<Store>,
    config: EngineConfig,
    clock: Arc<dyn Clock>,
    executor: Executor,
    cache: ResponseCache,
}

impl QueryEngine {
    /// An engine over `store`; `clock` says what `now()` is.
    ///
    /// # Errors
    /// [`EngineError::Internal`] where the memory pool of queries cannot be made.
    pub fn new(
        store: Arc<Store>,
        config: EngineConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<QueryEngine>, EngineError> {
        let executor = Executor::new(&config)?;
        let cache = ResponseCache::new(
            config.cache_bytes,
            config.cache_lifetime,
            Arc::clone(&clock),
        );
        Ok(Arc::new(QueryEngine {
            store,
            config,
            clock,
            executor,
            cache,
        }))
    }

    /// How many queries work, those included that nobody waits for any more and that have not come to their end.
    pub fn running_queries(&self) -> usize {
        self.executor.running()
    }

    /// Runs a KQL query.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn query(
        &self,
        request: &QueryRequest,
        control: CacheControl,
    ) -> Result<Answer<Arc<QueryResult>>, EngineError> {
        let known = self.known_apps().await?;
        let apps = self.target_apps(request, &known)?;
        let parsed = hindsight_kql_syntax::parse(&request.query);
        if !parsed.diagnostics.is_empty() {
            return Err(EngineError::Query {
                text: request.query.to_string(),
                diagnostics: parsed.diagnostics,
            });
        }
        let now = self.clock.now_ticks();
        let timespan = intersection(&request.timespans, now)?;
        let seconds = request
            .wait
            .unwrap_or(self.config.timeout.as_secs())
            .min(self.config.max_wait.as_secs());
        let key = format!(
            "query\n{}\n{}\n{}\n{:?}\n{}",
            ids(&apps),
            visible(&request.caller.access),
            request.workspace_names,
            request.timespans,
            parsed.query
        );
        let compute = async {
            let catalog = StoreCatalog::new(
                self.store.snapshot(),
                apps,
                known,
                request.caller.access.clone(),
            )
            .with_workspace_names(request.workspace_names);
            let run = self.run(&parsed.query, &request.query, catalog, now, timespan);
            let executed = within(Duration::from_secs(seconds), run).await?;
            Ok(Cached::Query(Arc::new(QueryResult {
                tables: executed.tables,
                render: executed.render,
                statistics: executed.statistics,
                partial: executed.partial,
            })))
        };
        let answer = self.cache.get(key, control, compute).await?;
        match answer.value {
            Cached::Query(value) => Ok(Answer {
                value,
                age: answer.age,
            }),
            _ => Err(wrong_kind()),
        }
    }

    /// Computes a metric.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn metric(
        &self,
        caller: &Caller,
        parameters: &MetricParameters,
        control: CacheControl,
    ) -> Result<Answer<Arc<MetricResult>>, EngineError> {
        let key = key("metric", caller, parameters);
        let compute = async {
            let result =
                within(self.config.timeout, self.compute_metric(caller, parameters)).await?;
            Ok(Cached::Metric(Arc::new(result)))
        };
        let answer = self.cache.get(key, control, compute).await?;
        match answer.value {
            Cached::Metric(value) => Ok(Answer {
                value,
                age: answer.age,
            }),
            _ => Err(wrong_kind()),
        }
    }

    /// Finds events.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn events(
        &self,
        caller: &Caller,
        parameters: &EventsParameters,
        control: CacheControl,
    ) -> Result<Answer<Arc<EventsResult>>, EngineError> {
        let key = key("events", caller, parameters);
        let compute = async {
            let plan = events::plan(parameters, self.clock.now_ticks())?;
            let result = within(self.config.timeout, self.find_events(caller, plan)).await?;
            Ok(Cached::Events(Arc::new(result)))
        };
        self.cached_events(key, control, compute).await
    }

    /// Finds one event by its id.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] where there is none.
    pub async fn event(
        &self,
        caller: &Caller,
        parameters: &EventParameters,
        control: CacheControl,
    ) -> Result<Answer<Arc<EventsResult>>, EngineError> {
        let key = key("event", caller, parameters);
        let compute = async {
            let plan = events::event_plan(parameters, self.clock.now_ticks())?;
            let result = within(self.config.timeout, self.find_events(caller, plan)).await?;
            if result.table.rows() == 0 {
                return Err(EngineError::NotFound(format!(
                    "There is no event '{}'.",
                    parameters.id
                )));
            }
            Ok(Cached::Events(Arc::new(result)))
        };
        self.cached_events(key, control, compute).await
    }

    /// A text that describes an application, such as its metrics: from the cache as every answer, or made by `compute`.
    /// `key` holds all that the text depends on.
    ///
    /// # Errors
    /// What `compute` fails with.
    pub async fn text(
        &self,
        key: &str,
        control: CacheControl,
        compute: impl Future<Output = Result<String, EngineError>>,
    ) -> Result<Answer<Arc<str>>, EngineError> {
        let compute = async { compute.await.map(|text| Cached::Text(text.into())) };
        let answer = self
            .cache
            .get(format!("text\n{key}"), control, compute)
            .await?;
        match answer.value {
            Cached::Text(value) => Ok(Answer {
                value,
                age: answer.age,
            }),
            _ => Err(wrong_kind()),
        }
    }

    async fn cached_events(
        &self,
        key: String,
        control: CacheControl,
        compute: impl Future<Output = Result<Cached, EngineError>>,
    ) -> Result<Answer<Arc<EventsResult>>, EngineError> {
        let answer = self.cache.get(key, control, compute).await?;
        match answer.value {
            Cached::Events(value) => Ok(Answer {
                value,
                age: answer.age,
            }),
            _ => Err(wrong_kind()),
        }
    }

    async fn compute_metric(
        &self,
        caller: &Caller,
        parameters: &MetricParameters,
    ) -> Result<MetricResult, EngineError> {
        let now = self.clock.now_ticks();
        let oldest = now
            - i64::try_from(self.config.retention.as_secs()).unwrap_or(i64::MAX / 2)
                * TICKS_PER_SECOND;
        let Some(name) = metrics::bare_name(&parameters.metric) else {
            let plan = metrics::plan(parameters, now, oldest)?;
            return self.run_metric(caller, &plan).await;
        };
        // A bare name is a measurement of custom events or a custom metric, whichever has data (`D8`).
        let mut refused = None;
        for id in [
            format!("customEvents/custom/{name}"),
            format!("customMetrics/{name}"),
        ] {
            let parameters = MetricParameters {
                metric: id,
                ..parameters.clone()
            };
            // A dimension may apply to the one and not to the other.
            match metrics::plan(&parameters, now, oldest) {
                Ok(plan) => {
                    let result = self.run_metric(caller, &plan).await?;
                    if has_data(&result.body) {
                        return Ok(result);
                    }
                }
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| {
            EngineError::NotFound(format!(
                "There is no metric '{name}', nor data under that name in the timespan."
            ))
        }))
    }

    async fn run_metric(
        &self,
        caller: &Caller,
        plan: &MetricPlan,
    ) -> Result<MetricResult, EngineError> {
        let query = metrics::to_kql(plan);
        let text = query.to_string();
        let executed = self.run_for_caller(caller, &query, &text).await?;
        if let Some(partial) = executed.partial {
            return Err(EngineError::ResourcesExceeded(partial.message));
        }
        let table = executed
            .tables
            .first()
            .ok_or_else(|| EngineError::Internal("a metric without rows".to_owned()))?;
        Ok(MetricResult {
            metric: plan.metric.id.clone(),
            range: plan.range,
            interval: plan.interval.map(format_duration),
            aggregations: plan
                .aggregations
                .iter()
                .map(|a| a.name().to_owned())
                .collect(),
            body: metrics::assemble(plan, table)?,
            query: text,
        })
    }

    async fn find_events(
        &self,
        caller: &Caller,
        plan: events::EventsPlan,
    ) -> Result<EventsResult, EngineError> {
        let text = plan.query.to_string();
        let executed = self.run_for_caller(caller, &plan.query, &text).await?;
        if let Some(partial) = executed.partial {
            return Err(EngineError::ResourcesExceeded(partial.message));
        }
        let count = match &plan.count {
            Some(query) => Some(self.count(caller, query).await?),
            None => None,
        };
        let table = executed
            .tables
            .into_iter()
            .next()
            .map_or_else(no_rows, |table| skip_rows(table, plan.skip));
        Ok(EventsResult {
            messages: plan.messages,
            count,
            table,
            select: plan.select,
            applied: false,
        })
    }

    async fn count(&self, caller: &Caller, query: &Query) -> Result<u64, EngineError> {
        let executed = self
            .run_for_caller(caller, query, &query.to_string())
            .await?;
        let value = executed.tables.first().and_then(first_long);
        value
            .and_then(|n| u64::try_from(n).ok())
            .ok_or_else(|| EngineError::Internal("a count without a number".to_owned()))
    }

    /// Runs a translated query for the caller's application alone.
    async fn run_for_caller(
        &self,
        caller: &Caller,
        query: &Query,
        text: &str,
    ) -> Result<Executed, EngineError> {
        let access = Access::Only(vec![caller.app]);
        let catalog = StoreCatalog::new(
            self.store.snapshot(),
            vec![caller.app],
            Arc::new(Vec::new()),
            access,
        );
        self.run(query, text, catalog, self.clock.now_ticks(), None)
            .await
    }

    async fn run(
        &self,
        query: &Query,
        text: &str,
        catalog: StoreCatalog,
        now: i64,
        timespan: Option<TimeRange>,
    ) -> Result<Executed, EngineError> {
        let limits = Limits {
            rows: self.config.max_rows,
            bytes: self.config.max_bytes,
        };
        let catalog = Arc::new(catalog);
        let job = Job {
            query: query.clone(),
            text: text.to_owned(),
            catalog: Arc::clone(&catalog) as Arc<dyn Catalog>,
            now,
            timespan,
            limits,
        };
        match self.executor.run(job).await {
            // Whatever became of the query: `union isfuzzy=true` would pass over what it cannot read.
            _ if catalog.was_denied() => Err(EngineError::Forbidden),
            other => other,
        }
    }

    async fn known_apps(&self) -> Result<Arc<Vec<KnownApp>>, EngineError> {
        let apps = self
            .store
            .catalogue()
            .apps()
            .await
            .map_err(|e| EngineError::Internal(e.to_string()))?;
        Ok(Arc::new(
            apps.into_iter()
                .map(|app| KnownApp {
                    id: app.id,
                    name: app.name,
                })
                .collect(),
        ))
    }

    /// The applications that a query ranges over: the one of the URL and those of the body. One out of reach fails all.
    fn target_apps(
        &self,
        request: &QueryRequest,
        known: &[KnownApp],
    ) -> Result<Vec<AppId>, EngineError> {
        let mut apps = vec![request.caller.app];
        for name in &request.applications {
            let app = find_permitted(known, &request.caller.access, name)
                .ok_or(EngineError::Forbidden)?;
            if !apps.contains(&app) {
                apps.push(app);
            }
        }
        if apps.len() > self.config.max_applications {
            return Err(EngineError::BadParameter {
                parameter: "applications".to_owned(),
                message: format!(
                    "The query names {} applications; the limit (max_applications) is {}.",
                    apps.len(),
                    self.config.max_applications
                ),
                position: None,
            });
        }
        Ok(apps)
    }
}

/// The cache's key of a request for one application (`D18`).
fn key(operation: &str, caller: &Caller, parameters: &impl std::fmt::Debug) -> String {
    let visible = visible(&caller.access);
    format!("{operation}\n{}\n{visible}\n{parameters:?}", caller.app)
}

/// What a principal may see, as a part of the cache's key.
fn visible(access: &Access) -> String {
    match access {
        Access::All => "all".to_owned(),
        Access::Only(apps) => ids(apps),
    }
}

fn ids(apps: &[AppId]) -> String {
    let mut ids: Vec<String> = apps.iter().map(AppId::to_string).collect();
    ids.sort();
    ids.join(",")
}

/// The time that all the spans have in common.
fn intersection(timespans: &[String], now: i64) -> Result<Option<TimeRange>, EngineError> {
    let mut common: Option<TimeRange> = None;
    for text in timespans {
        let range = parse_period(text)?.resolve(now);
        common = Some(common.map_or(range, |c| TimeRange {
            start: c.start.max(range.start),
            end: c.end.min(range.end),
        }));
    }
    Ok(common)
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, EngineError>>,
) -> Result<T, EngineError> {
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or(Err(EngineError::TimedOut {
            seconds: limit.as_secs(),
        }))
}

fn has_data(body: &MetricBody) -> bool {
    match body {
        MetricBody::Values(values) => values.iter().any(Option::is_some),
        MetricBody::Segments(segments) => !segments.is_empty(),
        MetricBody::Buckets(buckets) => !buckets.is_empty(),
    }
}

fn skip_rows(table: ResultTable, mut skip: usize) -> ResultTable {
    let mut batches = Vec::new();
    for batch in table.batches {
        let dropped = skip.min(batch.num_rows());
        skip -= dropped;
        if dropped < batch.num_rows() {
            batches.push(batch.slice(dropped, batch.num_rows() - dropped));
        }
    }
    ResultTable { batches, ..table }
}

fn no_rows() -> ResultTable {
    let columns = vec![ResultColumn {
        name: "itemId".to_owned(),
        kind: ScalarType::String,
    }];
    ResultTable {
        name: "PrimaryResult".to_owned(),
        columns,
        batches: Vec::new(),
    }
}

fn first_long(table: &ResultTable) -> Option<i64> {
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::Int64Type;
    let batch = table.batches.iter().find(|batch| batch.num_rows() > 0)?;
    let column = batch.columns().first()?.as_primitive_opt::<Int64Type>()?;
    column.is_valid(0).then(|| column.value(0))
}

fn wrong_kind() -> EngineError {
    EngineError::Internal(
        "the cache holds an answer of another operation under this key".to_owned(),
    )
}
