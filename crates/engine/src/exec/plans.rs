//! Optimised plans of queries, kept for later requests of the same text.
//!
//! Binding and optimising take a large part of a query over few rows, and dashboards send the same texts again and again. A plan is kept
//! only if it does not depend on the request beside what its key has ([`BoundQuery::is_reusable`]), and if all that it reads are tables
//! of the store by their own names. It is kept without rows, and each query runs it over the tables of its own snapshot: so no plan
//! answers from older telemetry, and none keeps files from being removed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use hindsight_kql::work::CancellationToken;
use hindsight_kql::{BoundQuery, BoundResult, Settings, with_sources};
use hindsight_store::AppId;
use parking_lot::Mutex;

use crate::catalog::{StoreCatalog, without_rows};

/// The most plans that are kept. A plan takes some tens of kilobytes.
const MAX_PLANS: usize = 64;
/// The longest text with its parameters, in bytes, whose plan is kept.
const MAX_TEXT: usize = 8 << 10;

/// All that a kept plan depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PlanKey {
    text: String,
    /// The applications that bare names of tables stand for.
    apps: Vec<AppId>,
    /// Whether wildcards range over the names of workspaces.
    workspace_names: bool,
    parameters: BTreeMap<String, String>,
    timespan: Option<(i64, i64)>,
}

impl PlanKey {
    /// The key of a text over the tables of `catalog`.
    pub(super) fn new(
        text: &str,
        catalog: &StoreCatalog,
        parameters: &BTreeMap<String, String>,
        timespan: Option<(i64, i64)>,
    ) -> PlanKey {
        PlanKey {
            text: text.to_owned(),
            apps: catalog.apps_of_request().to_vec(),
            workspace_names: catalog.has_workspace_names(),
            parameters: parameters.clone(),
            timespan,
        }
    }
}

/// The only result of a query, with its optimised plan.
#[derive(Debug)]
pub(crate) struct KeptPlan {
    result: BoundResult,
    name: String,
    settings: Settings,
    tables: Vec<String>,
    reads: BTreeMap<AppId, BTreeSet<&'static str>>,
}

/// The plans that were used last.
#[derive(Debug, Default)]
pub(crate) struct PlanCache {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    plans: HashMap<PlanKey, (u64, Arc<KeptPlan>)>,
    clock: u64,
}

impl PlanCache {
    /// The number of plans.
    pub(super) fn len(&self) -> usize {
        self.state.lock().plans.len()
    }

    fn get(&self, key: &PlanKey) -> Option<Arc<KeptPlan>> {
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        let (used, plan) = state.plans.get_mut(key)?;
        *used = now;
        Some(Arc::clone(plan))
    }

    fn put(&self, key: PlanKey, plan: KeptPlan) {
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        state.plans.insert(key, (now, Arc::new(plan)));
        if state.plans.len() > MAX_PLANS {
            let oldest = state.plans.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                state.plans.remove(&oldest);
            }
        }
    }
}

/// The place of one query in the cache.
pub(crate) struct PlanPlace {
    cache: Arc<PlanCache>,
    key: PlanKey,
    catalog: Arc<StoreCatalog>,
}

impl PlanPlace {
    /// The place of a query with this key over the tables of `catalog`; `None` if its plan is not to be kept.
    pub(super) fn of(
        cache: &Arc<PlanCache>,
        catalog: &Arc<StoreCatalog>,
        key: PlanKey,
    ) -> Option<PlanPlace> {
        let parameters = key.parameters.iter();
        let parameters: usize = parameters
            .map(|(name, value)| name.len() + value.len())
            .sum();
        let is_short = key.text.len() + parameters <= MAX_TEXT;
        is_short.then(|| PlanPlace {
            cache: Arc::clone(cache),
            key,
            catalog: Arc::clone(catalog),
        })
    }

    /// The query with the kept plan over the tables of its own snapshot, and the name of its result.
    pub(super) fn find(&self) -> Option<(BoundQuery, String)> {
        let kept = self.cache.get(&self.key)?;
        let plan = kept.result.plan.clone();
        let plan = with_sources(plan, |source| self.catalog.source_in_place_of(source)).ok()?;
        self.catalog.note_reads(&kept.reads);
        let query = BoundQuery {
            results: vec![BoundResult {
                plan,
                name: kept.result.name.clone(),
                columns: kept.result.columns.clone(),
                render: kept.result.render.clone(),
                sorted: kept.result.sorted,
            }],
            steps: Vec::new(),
            settings: kept.settings.clone(),
            tables: kept.tables.clone(),
            repeats: true,
        };
        Some((query, kept.name.clone()))
    }

    /// What keeps the plan of a query here; `None` if another request of the same text may have another plan.
    pub(super) fn keeper(self, bound: &BoundQuery) -> Option<PlanKeeper> {
        let is_table = |source: &_| without_rows(source).is_some();
        let may_keep = self.catalog.is_of_own_tables() && bound.is_reusable(is_table).ok()?;
        may_keep.then(|| PlanKeeper {
            settings: bound.settings.clone(),
            tables: bound.tables.clone(),
            place: self,
        })
    }
}

/// Keeps the plan of a query.
pub(crate) struct PlanKeeper {
    place: PlanPlace,
    settings: Settings,
    tables: Vec<String>,
}

impl PlanKeeper {
    /// Keeps the only result of the query, whose name is `name`, and its optimised plan.
    pub(crate) fn keep(self, name: &str, result: &BoundResult, optimised: &LogicalPlan) {
        let token = CancellationToken::current();
        // A constant that was computed without a database of addresses comes with a notice, one that memory lacked for with an error.
        if token.lacked_addresses() || token.was_refused() {
            return;
        }
        let Ok(plan) = with_sources(optimised.clone(), without_rows) else {
            return;
        };
        let plan = KeptPlan {
            result: BoundResult {
                plan,
                name: result.name.clone(),
                columns: result.columns.clone(),
                render: result.render.clone(),
                sorted: result.sorted,
            },
            name: name.to_owned(),
            settings: self.settings,
            tables: self.tables,
            reads: self.place.catalog.noted_reads(),
        };
        self.place.cache.put(self.place.key, plan);
    }
}
