//! What the binder asks of the world: tables by name. The engine adapts the store to it.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use hindsight_kql_types::ScalarType;

/// Where a table name is looked up.
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
    /// `database('name')`, with the cluster where one was named.
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
    /// The name that `withsource` and `$table` show.
    pub name: String,
    /// Columns in order with their KQL types; the provider's Arrow schema has the same names and the types'
    /// [`ScalarType::arrow`].
    pub columns: Vec<(String, ScalarType)>,
    /// Reads the rows.
    pub provider: Arc<dyn TableProvider>,
}

/// Why a table cannot be had. The messages say nothing of what exists beyond the principal's reach.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The scope is not known or not permitted.
    #[error("{0}")]
    Scope(String),
    /// The catalogue could not be read.
    #[error("{0}")]
    Failed(String),
}

/// The tables of a request.
pub trait Catalog: Send + Sync {
    /// The table `name` of `scope`; `None` where the scope has no such table.
    fn table(&self, scope: &TableScope, name: &str) -> Result<Option<CatalogTable>, CatalogError>;

    /// The names that wildcards, `search` and `find` range over, in order of creation.
    fn table_names(&self, scope: &TableScope) -> Result<Vec<String>, CatalogError>;

    /// The texts beside `""` that a text column of the table can hold, where they are few and fixed: `success` of `requests`
    /// holds `True` and `False`. Equality with another type then tests these texts and converts none (`D27`).
    fn listed_texts(&self, _table: &str, _column: &str) -> Option<&'static [&'static str]> {
        None
    }

    /// What `current_database()` answers: the application that bare names belong to, the first of the request's.
    fn database_name(&self) -> String;
}
