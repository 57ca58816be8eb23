//! The catalog interface of the binder: tables by name. The engine implements it over the store.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use hindsight_kql_types::ScalarType;

/// The scope in which a table name is resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TableScope {
    /// The applications of the request: a bare name.
    Request,
    /// `app('name-or-id')`
    App(String),
    /// `workspace('name-or-id')`
    Workspace(String),
    /// `resource('id')`
    Resource(String),
    /// `database('name')`, with the cluster if one is named.
    Database {
        /// `cluster('…')`
        cluster: Option<String>,
        /// The name.
        database: String,
    },
}

/// A table that a query may read.
#[derive(Clone)]
pub struct CatalogTable {
    /// The name in `withsource` and `$table` columns.
    pub name: String,
    /// Columns in order with their KQL types; the provider's Arrow schema has the same names and the types'
    /// [`ScalarType::arrow`].
    pub columns: Vec<(String, ScalarType)>,
    /// The provider that scans the table. It may have the field [`crate::INGESTION_TIME`] as well, which only `ingestion_time()`
    /// reads.
    pub provider: Arc<dyn TableProvider>,
}

/// Why a table is not available. The messages do not reveal what exists outside the principal's permissions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The scope is unknown or not permitted.
    #[error("{0}")]
    Scope(String),
    /// The catalog could not be read.
    #[error("{0}")]
    Failed(String),
}

/// The tables of a request.
pub trait Catalog: Send + Sync {
    /// The table `name` of `scope`; `None` if the scope has no such table.
    fn table(&self, scope: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError>;

    /// The names that wildcards, `search` and `find` match, in order of creation.
    fn table_names(&self, scope: &TableScope) -> Result<Vec<String>, CatalogError>;

    /// The possible texts beside `""` of a text column, if they are few and fixed: `success` of `requests` holds `True` and
    /// `False`. Equality with another type then compares these texts and converts none (`D27`).
    fn listed_texts(&self, _table: &str, _column: &str) -> Option<&'static [&'static str]> {
        None
    }

    /// The result of `current_database()`: the application that bare names resolve to, the first of the request's.
    fn database_name(&self) -> String;
}
