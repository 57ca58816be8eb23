//! The engine: resolves applications, translates, runs, assembles. Each family of operations is a module.

mod check;
mod condition;
mod events;
mod fragment;
mod metric;
mod query;

pub use fragment::FragmentRows;

use std::sync::Arc;
use std::time::Duration;

use hindsight_kql::Catalog;
use hindsight_kql_syntax::ast::Query;
use hindsight_store::{Clock, Snapshot, Store, StoreError};
use parking_lot::Mutex;

use crate::catalog::{KnownApp, StoreCatalog};
use crate::config::EngineConfig;
use crate::deadline::Deadline;
use crate::distributed::plan_codec;
use crate::error::EngineError;
use crate::exec::{Executor, Job, Times};
use crate::producer::Limits;
use crate::request::{Access, Caller, QueryOptions};
use crate::result::QueryResult;
use crate::stream::{QueryStream, unreadable};

/// How much longer than a query other nodes keep what it reads of them.
const LEASE_MARGIN: Duration = Duration::from_secs(10);

/// A query that is to run.
struct Asked<'a> {
    query: &'a Query,
    /// The text that the spans of diagnostics refer to.
    text: &'a str,
    /// Whether `query` is `text` parsed. Only then is the plan kept for later requests of the same text, or found.
    is_text_parsed: bool,
}

/// Answers the three families of operations over one store.
#[derive(Debug)]
pub struct QueryEngine {
    store: Arc<Store>,
    config: EngineConfig,
    clock: Arc<dyn Clock>,
    executor: Executor,
    /// The applications, and the version of the catalogue that they were read at.
    known: Mutex<Option<(i64, Arc<Vec<KnownApp>>)>>,
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
        let codec = plan_codec(Arc::clone(&store));
        let executor = Executor::new(&config, Arc::clone(&clock), codec)?;
        Ok(Arc::new(QueryEngine {
            store,
            config,
            clock,
            executor,
            known: Mutex::default(),
        }))
    }

    /// How many queries run, cancelled ones included until their last task has ended.
    pub fn running_queries(&self) -> usize {
        self.executor.running()
    }

    /// How many optimised plans are kept for later requests of the same text.
    pub fn kept_plans(&self) -> usize {
        self.executor.kept_plans()
    }

    /// How long a request of `caller` may run: its `Prefer: wait=`, within the configured limit.
    pub fn query_timeout(&self, caller: &Caller) -> Duration {
        caller
            .wait
            .map_or(self.config.timeout, Duration::from_secs)
            .min(self.config.max_wait)
    }

    /// Runs a translated query over the caller's application alone. When it meets a damaged segment, it runs again without it.
    async fn run_for_caller(
        &self,
        caller: &Caller,
        query: &Query,
        text: &str,
    ) -> Result<QueryResult, EngineError> {
        loop {
            // Each round knows of another damaged segment.
            match self.run_once_for_caller(caller, query, text).await {
                Err(EngineError::Unreadable(_)) => {}
                other => return other,
            }
        }
    }

    async fn run_once_for_caller(
        &self,
        caller: &Caller,
        query: &Query,
        text: &str,
    ) -> Result<QueryResult, EngineError> {
        let access = Access::Only(vec![caller.app]);
        let catalog = StoreCatalog::new(
            self.snapshot(caller).await?,
            vec![caller.app],
            Arc::new(Vec::new()),
            access,
        );
        let times = Times {
            now: self.clock.now_ticks(),
            timespan: None,
            deadline: Deadline::after(self.query_timeout(caller)),
        };
        let options = QueryOptions::default();
        let asked = Asked {
            query,
            text,
            is_text_parsed: false,
        };
        self.run(asked, caller, catalog, times, &options)
            .await?
            .collect()
            .await
    }

    async fn run(
        &self,
        asked: Asked<'_>,
        caller: &Caller,
        catalog: StoreCatalog,
        times: Times,
        options: &QueryOptions,
    ) -> Result<QueryStream, EngineError> {
        let bounded = |asked: Option<u64>, limit: u64| asked.map_or(limit, |most| most.min(limit));
        let limits = Limits {
            rows: bounded(options.max_rows, self.config.max_rows),
            bytes: bounded(options.max_bytes, self.config.max_bytes),
        };
        let catalog = Arc::new(catalog);
        let job = Job {
            query: asked.query.clone(),
            text: asked.text.to_owned(),
            catalog: Arc::clone(&catalog) as Arc<dyn Catalog>,
            tables: asked.is_text_parsed.then(|| Arc::clone(&catalog)),
            times,
            parameters: options.parameters.clone(),
            limits,
            principal: Arc::clone(&caller.principal),
            sender: caller.sender.clone(),
            endpoint: caller.endpoint.clone(),
        };
        match self.executor.start(job).await {
            // Also when the query succeeded: `union isfuzzy=true` ignores tables that it cannot read. Names are resolved
            // during binding, so nothing is denied later.
            _ if catalog.was_denied() => Err(EngineError::Forbidden),
            Ok(stream) => Ok(stream
                .with_data_sources(catalog.data_sources(), catalog.reads())
                .over(catalog.snapshot().clone())),
            Err(error) => Err(unreadable(error, catalog.snapshot())),
        }
    }

    /// Everything that is stored now, at all nodes, for as long as a query of `caller` may run.
    async fn snapshot(&self, caller: &Caller) -> Result<Snapshot, EngineError> {
        let lifetime = self.query_timeout(caller).saturating_add(LEASE_MARGIN);
        let snapshot = self.store.snapshot_of_all(lifetime).await;
        snapshot.map_err(|error| match error {
            StoreError::Node { .. } => EngineError::Unavailable(error.to_string()),
            error if error.is_catalogue_unavailable() => {
                tracing::warn!(%error, "a query cannot be run: the catalogue cannot be reached");
                EngineError::Unavailable(
                    "The catalogue cannot be reached, so it is not known what other nodes hold"
                        .to_owned(),
                )
            }
            error => EngineError::Internal(error.to_string()),
        })
    }

    /// The applications. They are read again when the catalogue has changed: it may be on another machine.
    async fn known_apps(&self) -> Result<Arc<Vec<KnownApp>>, EngineError> {
        let catalogue = self.store.catalogue();
        let failed = |error: StoreError| EngineError::Internal(error.to_string());
        // Before the applications: a change between the two makes the next query read them again.
        let version = catalogue.version().await.map_err(failed)?;
        let last = self.known.lock().clone();
        if let Some((_, known)) = last.as_ref().filter(|(at, _)| *at == version) {
            return Ok(Arc::clone(known));
        }
        let apps = match (catalogue.apps().await, last) {
            (Ok(apps), _) => apps,
            (Err(error), Some((_, known))) if error.is_catalogue_unavailable() => return Ok(known),
            (Err(error), _) => return Err(failed(error)),
        };
        let known = apps.into_iter().map(|app| KnownApp {
            id: app.id,
            name: app.name,
        });
        let known: Arc<Vec<KnownApp>> = Arc::new(known.collect());
        *self.known.lock() = Some((version, Arc::clone(&known)));
        Ok(known)
    }
}
