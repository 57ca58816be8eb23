//! The store as the language sees it: tables by name, for the applications that a principal may read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::catalog::TableProvider;
use datafusion::common::ScalarValue;
use datafusion::datasource::{ViewTable, provider_as_source, source_as_provider};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, TableSource, col, lit};
use datafusion::physical_plan::ExecutionPlan;
use hindsight_kql::{
    Catalog, CatalogError, CatalogTable, DictionaryScans, Leaf, LeafSource, RandomRowSource,
    RandomSource, TableScope, filter_terms,
};
use hindsight_kql_types::ScalarType;
use hindsight_kql_types::terms::TermCondition;
use hindsight_store::{
    AppId, FilterTerms, LeafKind, PromotedColumn, RowChoice, Snapshot, StoreTable, Table,
    with_dictionaries, with_latest,
};
use parking_lot::Mutex;

use crate::error::EngineError;
use crate::request::Access;
use crate::result::DataSource;
use crate::usage;

/// An application as queries name it.
#[derive(Debug, Clone)]
pub(crate) struct KnownApp {
    /// Its id.
    pub(crate) id: AppId,
    /// Its name.
    pub(crate) name: String,
}

/// The tables of one request.
pub(crate) struct StoreCatalog {
    snapshot: Snapshot,
    apps: Vec<AppId>,
    known: Arc<Vec<KnownApp>>,
    access: Access,
    workspace_names: bool,
    databases: bool,
    denied: AtomicBool,
    /// Whether the query has named anything but the store's tables of its own applications.
    named_others: AtomicBool,
    read: Mutex<BTreeMap<AppId, BTreeSet<&'static str>>>,
}

impl StoreCatalog {
    /// The tables of `apps` as they stood at `snapshot`; `access` bounds what `app('…')` may add.
    pub(crate) fn new(
        snapshot: Snapshot,
        apps: Vec<AppId>,
        known: Arc<Vec<KnownApp>>,
        access: Access,
    ) -> StoreCatalog {
        StoreCatalog {
            snapshot,
            apps,
            known,
            access,
            workspace_names: false,
            databases: false,
            denied: AtomicBool::new(false),
            named_others: AtomicBool::new(false),
            read: Mutex::default(),
        }
    }

    /// Wildcards range over the names of workspaces (`AppRequests`, …). Both families of names are found one by one.
    pub(crate) fn with_workspace_names(mut self, yes: bool) -> StoreCatalog {
        self.workspace_names = yes;
        self
    }

    /// `database('x')` denotes an application.
    pub(crate) fn with_databases(mut self, yes: bool) -> StoreCatalog {
        self.databases = yes;
        self
    }

    /// What the tables are read from.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Whether the query named a target out of the principal's reach: then the whole request is refused.
    pub(crate) fn was_denied(&self) -> bool {
        self.denied.load(Ordering::Relaxed)
    }

    /// The applications that bare names of tables stand for.
    pub(crate) fn apps_of_request(&self) -> &[AppId] {
        &self.apps
    }

    /// Whether wildcards range over the names of workspaces.
    pub(crate) fn has_workspace_names(&self) -> bool {
        self.workspace_names
    }

    /// Whether the query has named nothing so far but the store's tables of its own applications: their columns depend on nothing.
    pub(crate) fn is_of_own_tables(&self) -> bool {
        !self.named_others.load(Ordering::Relaxed)
    }

    fn note_others(&self) {
        self.named_others.store(true, Ordering::Relaxed);
    }

    /// The table of this snapshot in the place of a table of the store that [`without_rows`] returned; `None` for another source.
    pub(crate) fn source_in_place_of(
        &self,
        source: &Arc<dyn TableSource>,
    ) -> Option<Arc<dyn TableSource>> {
        let provider = source_as_provider(source).ok()?;
        let table = provider.downcast_ref::<StoreTable>()?;
        let own = self.stored(&self.apps, table.table());
        Some(provider_as_source(Arc::new(
            own.with_promoted(table.promoted().to_vec()),
        )))
    }

    /// The tables that the query has named so far, of each application.
    pub(crate) fn noted_reads(&self) -> BTreeMap<AppId, BTreeSet<&'static str>> {
        self.read.lock().clone()
    }

    /// The query reads these tables.
    pub(crate) fn note_reads(&self, reads: &BTreeMap<AppId, BTreeSet<&'static str>>) {
        let mut read = self.read.lock();
        for (app, tables) in reads {
            read.entry(*app).or_default().extend(tables);
        }
    }

    /// Which tables of which applications the query has named so far.
    pub(crate) fn data_sources(&self) -> Vec<DataSource> {
        let read = self.read.lock();
        read.iter()
            .map(|(app, tables)| DataSource {
                application: self.name(app),
                tables: tables.iter().map(|table| (*table).to_owned()).collect(),
            })
            .collect()
    }

    /// The tables that the query has named so far, of each application.
    pub(crate) fn reads(&self) -> Vec<(AppId, Table)> {
        let read = self.read.lock();
        let named = |name: &&'static str| match *name {
            usage::USAGE => Table::ALL.to_vec(),
            name => Table::from_name(name)
                .or_else(|| Table::from_workspace_table(name))
                .into_iter()
                .collect(),
        };
        read.iter()
            .flat_map(|(app, tables)| tables.iter().flat_map(named).map(|table| (*app, table)))
            .collect()
    }

    fn name(&self, app: &AppId) -> String {
        let known = self.known.iter().find(|known| known.id == *app);
        known.map(|known| known.name.clone()).unwrap_or_default()
    }

    fn stored(&self, apps: &[AppId], table: Table) -> StoreTable {
        let stored = self.snapshot.table(apps, table);
        stored.with_terms_of(Arc::new(KqlTerms))
    }

    fn note(&self, apps: &[AppId], table: &'static str) {
        let mut read = self.read.lock();
        for app in apps {
            read.entry(*app).or_default().insert(table);
        }
    }

    fn apps(&self, scope: &TableScope) -> Result<Vec<AppId>, CatalogError> {
        if *scope != TableScope::Request {
            self.note_others();
        }
        let target = match scope {
            TableScope::Request => return Ok(self.apps.clone()),
            TableScope::App(name) | TableScope::Workspace(name) | TableScope::Resource(name) => {
                name
            }
            TableScope::Database {
                cluster: None,
                database,
            } if self.databases => database,
            TableScope::Database { cluster, database } => {
                let cluster = cluster
                    .as_deref()
                    .map_or(String::new(), |c| format!("cluster('{c}')."));
                return Err(CatalogError::Scope(format!(
                    "{cluster}database('{database}') is not supported; use app('name') for another application."
                )));
            }
        };
        match find_permitted(&self.known, &self.access, target) {
            Some(app) => Ok(vec![app]),
            None if self.access == Access::All => Err(CatalogError::Scope(
                out_of_reach(&self.access, target).to_string(),
            )),
            None => {
                self.denied.store(true, Ordering::Relaxed);
                Err(CatalogError::Scope(
                    "The target of the query cannot be read.".to_owned(),
                ))
            }
        }
    }
}

/// The application that `target` names (a name, an id, or a resource path that ends in one), if `access` covers it.
pub(crate) fn find_permitted(known: &[KnownApp], access: &Access, target: &str) -> Option<AppId> {
    let last = target.rsplit('/').next().unwrap_or(target);
    // Ids before names: nobody can take another application's place by a name that looks like its id.
    let app = known
        .iter()
        .find(|app| app.id.to_string().eq_ignore_ascii_case(last))
        .or_else(|| known.iter().find(|app| app.name == target))
        .or_else(|| known.iter().find(|app| app.name == last))?;
    let permitted = match access {
        Access::All => true,
        Access::Only(apps) => apps.contains(&app.id),
    };
    permitted.then_some(app.id)
}

/// Why an application that a query names is not read (`D3`): who may see some learns nothing of others, who may see all learns
/// that there is none.
pub(crate) fn out_of_reach(access: &Access, target: &str) -> EngineError {
    match access {
        Access::All => EngineError::NotFound(format!("There is no application '{target}'.")),
        Access::Only(_) => EngineError::Forbidden,
    }
}

/// The order in which wildcards find the tables: `union *` has its columns in the recorded order.
const IN_UNIONS: [Table; 10] = [
    Table::Traces,
    Table::CustomEvents,
    Table::PageViews,
    Table::Requests,
    Table::Dependencies,
    Table::Exceptions,
    Table::AvailabilityResults,
    Table::CustomMetrics,
    Table::PerformanceCounters,
    Table::BrowserTimings,
];

impl Catalog for StoreCatalog {
    fn table(&self, scope: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError> {
        let apps = self.apps(scope)?;
        if let Some(table) = Table::ALL.into_iter().find(|table| table.name() == name) {
            self.note(&apps, table.name());
            return Ok(Some(CatalogTable {
                name: name.to_owned(),
                columns: table
                    .columns()
                    .iter()
                    .map(|c| (c.name.to_owned(), c.scalar_type))
                    .collect(),
                provider: Arc::new(self.stored(&apps, table)),
            }));
        }
        self.note_others();
        if name == usage::USAGE && self.snapshot.has_other_nodes() {
            return Err(CatalogError::Scope(format!(
                "The table {name} is not supported while several nodes share a catalogue."
            )));
        }
        if name == usage::USAGE {
            self.note(&apps, usage::USAGE);
            let records = self.snapshot.usage(&apps);
            return usage::table(&records, |app| self.name(app))
                .map(Some)
                .map_err(|e| {
                    CatalogError::Failed(format!("the table {name} cannot be made: {e}"))
                });
        }
        let Some(table) = Table::ALL
            .into_iter()
            .find(|table| table.workspace_table() == name)
        else {
            return Ok(None);
        };
        self.note(&apps, table.workspace_table());
        workspace_view(Arc::new(self.stored(&apps, table)), table)
            .map(Some)
            .map_err(|e| CatalogError::Failed(format!("the view {name} cannot be made: {e}")))
    }

    fn table_names(&self, scope: &TableScope) -> Result<Vec<String>, CatalogError> {
        self.apps(scope)?;
        let workspace = self.workspace_names || matches!(scope, TableScope::Workspace(_));
        let name = |table: Table| {
            if workspace {
                table.workspace_table().to_owned()
            } else {
                table.name().to_owned()
            }
        };
        Ok(IN_UNIONS.into_iter().map(name).collect())
    }

    fn listed_texts(&self, table: &str, column: &str) -> Option<&'static [&'static str]> {
        let table = Table::ALL.into_iter().find(|known| known.name() == table)?;
        table.column(column)?.texts
    }

    fn database_name(&self) -> String {
        self.note_others();
        self.apps
            .first()
            .map(|app| self.name(app))
            .unwrap_or_default()
    }
}

/// The table under its workspace name: other column names, `Success` as a bool, and the table's own name as `Type`.
fn workspace_view(
    provider: Arc<dyn TableProvider>,
    table: Table,
) -> datafusion::error::Result<CatalogTable> {
    let mut columns = Vec::new();
    let mut exprs: Vec<Expr> = Vec::new();
    for column in table.columns() {
        let Some(name) = column.workspace_name else {
            continue;
        };
        let source = col(datafusion::common::Column::new_unqualified(column.name));
        let expr = match column.name {
            "success" => source.in_list(vec![lit("True"), lit("1")], false),
            "itemType" => lit(ScalarValue::Utf8View(Some(
                table.workspace_table().to_owned(),
            ))),
            _ => source,
        };
        columns.push((name.to_owned(), column.workspace_type()));
        exprs.push(expr.alias(name));
    }
    let plan = LogicalPlanBuilder::scan(table.name(), provider_as_source(provider), None)?
        .project(exprs)?
        .build()?;
    Ok(CatalogTable {
        name: table.workspace_table().to_owned(),
        columns,
        provider: Arc::new(ViewTable::new(plan, None)),
    })
}

/// The bags whose keys segments hold as columns, and as what.
const BAGS: [(&str, LeafKind, ScalarType); 2] = [
    ("customDimensions", LeafKind::Text, ScalarType::String),
    ("customMeasurements", LeafKind::Real, ScalarType::Real),
];

/// Reads keys of bags from the columns that segments have for them.
pub(crate) struct StoreLeaves;

impl LeafSource for StoreLeaves {
    fn with_leaves(
        &self,
        source: &Arc<dyn TableSource>,
        keys: &[String],
    ) -> Option<(Arc<dyn TableSource>, Vec<Leaf>)> {
        let provider = source_as_provider(source).ok()?;
        let table = provider.downcast_ref::<StoreTable>()?;
        let (mut promoted, mut leaves) = (Vec::new(), Vec::new());
        let schema = source.schema();
        for (bag, kind, scalar) in BAGS {
            if schema.field_with_name(bag).is_err() {
                continue;
            }
            for key in keys {
                let column = PromotedColumn {
                    bag: bag.to_owned(),
                    key: key.clone(),
                    kind,
                };
                leaves.push(Leaf {
                    bag: bag.to_owned(),
                    key: key.clone(),
                    kind: scalar,
                    field: column.name(),
                });
                promoted.push(column);
            }
        }
        let table = table.clone().with_promoted(promoted);
        Some((provider_as_source(Arc::new(table)), leaves))
    }
}

/// A table of the store without rows, with the same columns; `None` for another source, and for a table of chosen rows.
pub(crate) fn without_rows(source: &Arc<dyn TableSource>) -> Option<Arc<dyn TableSource>> {
    let provider = source_as_provider(source).ok()?;
    let table = provider.downcast_ref::<StoreTable>()?;
    Some(provider_as_source(Arc::new(table.without_rows()?)))
}

/// The terms that the operators of the language require.
#[derive(Debug)]
struct KqlTerms;

impl FilterTerms for KqlTerms {
    fn required(&self, filter: &Expr) -> Option<TermCondition> {
        filter_terms(filter)
    }
}

/// Scans of the store that return texts as dictionaries.
#[derive(Debug)]
pub(crate) struct StoreScans;

impl DictionaryScans for StoreScans {
    fn with_dictionaries(
        &self,
        scan: &Arc<dyn ExecutionPlan>,
        columns: &[usize],
    ) -> datafusion::error::Result<Option<Arc<dyn ExecutionPlan>>> {
        with_dictionaries(scan, columns)
    }

    fn with_latest(
        &self,
        scan: &Arc<dyn ExecutionPlan>,
        keys: &[usize],
        time: usize,
    ) -> Option<Arc<dyn ExecutionPlan>> {
        with_latest(scan, keys, time)
    }
}

/// Reads random rows of tables by their numbers.
pub(crate) struct StoreRandomRows;

impl RandomRowSource for StoreRandomRows {
    fn with_random_rows(
        &self,
        source: &Arc<dyn TableSource>,
        count: usize,
        random: &RandomSource,
    ) -> Option<Arc<dyn TableSource>> {
        let provider = source_as_provider(source).ok()?;
        let table = provider.downcast_ref::<StoreTable>()?;
        if table.reads_other_nodes() {
            return None;
        }
        let choice = RandomRows {
            count: count as u64,
            random: random.clone(),
        };
        let table = table.clone().with_rows_of(Arc::new(choice));
        Some(provider_as_source(Arc::new(table)))
    }
}

/// Chooses random rows.
#[derive(Debug)]
struct RandomRows {
    count: u64,
    random: RandomSource,
}

impl RowChoice for RandomRows {
    fn choose(&self, rows: u64) -> Vec<u64> {
        self.random.choose(self.count, rows)
    }
}
