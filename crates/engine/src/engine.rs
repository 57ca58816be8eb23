//! The engine: resolves applications, translates, runs, assembles.

use std::sync::Arc;
use std::time::Duration;

use hindsight_kql::Catalog;
use hindsight_kql_syntax::ast::Query;
use hindsight_kql_types::ScalarType;
use hindsight_kql_types::ticks::TICKS_PER_SECOND;
use hindsight_store::{AppId, Clock, Store};

use crate::catalog::{KnownApp, StoreCatalog, find_permitted, out_of_reach};
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::events;
use crate::exec::{Executor, Job, Limits, Times};
use crate::metrics::{self, MetricPlan};
use crate::request::{
    Access, Caller, EventParameters, EventsParameters, MetricParameters, PreparedQuery,
    QueryRequest, TimeRange,
};
use crate::result::{
    EventsResult, MetricBody, MetricResult, QueryResult, ResultColumn, ResultTable,
};
use crate::stream::{Deadline, QueryStream};
use crate::time::{format_duration, parse_period};

/// Answers the three families of operations over one store.
#[derive(Debug)]
pub struct QueryEngine {
    store: Arc<Store>,
    config: EngineConfig,
    clock: Arc<dyn Clock>,
    executor: Executor,
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
        Ok(Arc::new(QueryEngine {
            store,
            config,
            clock,
            executor,
        }))
    }

    /// How many queries work, those included that nobody waits for any more and that have not come to their end.
    pub fn running_queries(&self) -> usize {
        self.executor.running()
    }

    /// Reads a KQL query: its text, its times and the applications that it ranges over.
    ///
    /// # Errors
    /// [`EngineError::Query`] for a wrong text, [`EngineError::BadParameter`] for a wrong time or too many applications,
    /// [`EngineError::Forbidden`] for an application out of reach.
    pub async fn prepare(&self, request: QueryRequest) -> Result<PreparedQuery, EngineError> {
        let apps = self.target_apps(&request).await?;
        let parsed = hindsight_kql_syntax::parse(&request.query);
        if !parsed.diagnostics.is_empty() {
            return Err(EngineError::Query {
                text: request.query.to_string(),
                diagnostics: parsed.diagnostics,
            });
        }
        intersection(&request.timespans, self.clock.now_ticks())?;
        Ok(PreparedQuery {
            request,
            apps,
            query: parsed.query,
        })
    }

    /// How long what `caller` asks may run.
    pub fn patience(&self, caller: &Caller) -> Duration {
        caller
            .wait
            .map_or(self.config.timeout, Duration::from_secs)
            .min(self.config.max_wait)
    }

    /// Begins to run a query; its rows come as they are read.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn start(&self, prepared: &PreparedQuery) -> Result<QueryStream, EngineError> {
        let request = &prepared.request;
        let now = self.clock.now_ticks();
        let times = Times {
            now,
            timespan: intersection(&request.timespans, now)?,
            deadline: Deadline::after(self.patience(&request.caller)),
        };
        let catalog = StoreCatalog::new(
            self.store.snapshot(),
            prepared.apps.clone(),
            self.known_apps().await?,
            request.caller.access.clone(),
        )
        .with_workspace_names(request.workspace_names);
        self.run(
            &request.caller,
            &prepared.query,
            &request.query,
            catalog,
            times,
        )
        .await
    }

    /// Runs a query and holds all of its rows.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn query(&self, request: &QueryRequest) -> Result<QueryResult, EngineError> {
        let prepared = self.prepare(request.clone()).await?;
        self.start(&prepared).await?.collect().await
    }

    /// Computes a metric.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn metric(
        &self,
        caller: &Caller,
        parameters: &MetricParameters,
    ) -> Result<MetricResult, EngineError> {
        let deadline = Deadline::after(self.patience(caller));
        deadline
            .bound(self.compute_metric(caller, parameters))
            .await
    }

    /// Finds events.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn events(
        &self,
        caller: &Caller,
        parameters: &EventsParameters,
    ) -> Result<EventsResult, EngineError> {
        let plan = events::plan(parameters, self.clock.now_ticks())?;
        let deadline = Deadline::after(self.patience(caller));
        deadline.bound(self.find_events(caller, plan)).await
    }

    /// Finds one event by its id.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] where there is none.
    pub async fn event(
        &self,
        caller: &Caller,
        parameters: &EventParameters,
    ) -> Result<EventsResult, EngineError> {
        let plan = events::event_plan(parameters, self.clock.now_ticks())?;
        let deadline = Deadline::after(self.patience(caller));
        let result = deadline.bound(self.find_events(caller, plan)).await?;
        if result.table.rows() == 0 {
            return Err(EngineError::NotFound(format!(
                "There is no event '{}'.",
                parameters.id
            )));
        }
        Ok(result)
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
            applied: plan.applied,
            computed: plan.computed,
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
    ) -> Result<QueryResult, EngineError> {
        let access = Access::Only(vec![caller.app]);
        let catalog = StoreCatalog::new(
            self.store.snapshot(),
            vec![caller.app],
            Arc::new(Vec::new()),
            access,
        );
        let times = Times {
            now: self.clock.now_ticks(),
            timespan: None,
            deadline: Deadline::after(self.patience(caller)),
        };
        self.run(caller, query, text, catalog, times)
            .await?
            .collect()
            .await
    }

    async fn run(
        &self,
        caller: &Caller,
        query: &Query,
        text: &str,
        catalog: StoreCatalog,
        times: Times,
    ) -> Result<QueryStream, EngineError> {
        let limits = Limits {
            rows: self.config.max_rows,
            bytes: self.config.max_bytes,
        };
        let catalog = Arc::new(catalog);
        let job = Job {
            query: query.clone(),
            text: text.to_owned(),
            catalog: Arc::clone(&catalog) as Arc<dyn Catalog>,
            times,
            limits,
            principal: Arc::clone(&caller.principal),
        };
        match self.executor.start(job).await {
            // Whatever became of the query: `union isfuzzy=true` would pass over what it cannot read. Names are looked
            // up while the query is bound, so nothing is denied later.
            _ if catalog.was_denied() => Err(EngineError::Forbidden),
            other => other.map(|stream| stream.reading(catalog.data_sources())),
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
    async fn target_apps(&self, request: &QueryRequest) -> Result<Vec<AppId>, EngineError> {
        let mut names: Vec<&String> = request.applications.iter().collect();
        names.sort();
        names.dedup();
        let most = self.config.max_applications;
        if names.len() > most {
            return Err(too_many(names.len(), most));
        }
        let mut apps = vec![request.caller.app];
        if names.is_empty() {
            return Ok(apps);
        }
        let known = self.known_apps().await?;
        for name in names {
            let access = &request.caller.access;
            let app =
                find_permitted(&known, access, name).ok_or_else(|| out_of_reach(access, name))?;
            if !apps.contains(&app) {
                apps.push(app);
            }
        }
        if apps.len() > most {
            return Err(too_many(apps.len(), most));
        }
        Ok(apps)
    }
}

fn too_many(apps: usize, most: usize) -> EngineError {
    EngineError::BadParameter {
        parameter: "applications".to_owned(),
        message: format!(
            "The query names {apps} applications; the limit (query.max_applications) is {most}."
        ),
        position: None,
    }
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
