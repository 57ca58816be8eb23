//! What `restrict access to (…)` permits (`docs/semantics.md §14.1`).

use super::wildcard::wildcard_matches;
use crate::catalog::TableScope;

/// The permissions of one statement.
#[derive(Debug)]
pub(crate) struct Access {
    /// Names and patterns that match lets and patterns; a name without `*` also permits a table.
    pub(crate) names: Vec<String>,
    /// Tables of a scope, by name or pattern.
    pub(crate) tables: Vec<(TableScope, String)>,
}

impl Access {
    /// Whether a let or a pattern of this name remains visible.
    pub(crate) fn permits_name(&self, name: &str) -> bool {
        self.names.iter().any(|n| wildcard_matches(n, name))
    }

    /// Whether a table remains visible.
    pub(crate) fn permits_table(&self, scope: &TableScope, table: &str) -> bool {
        let bare = *scope == TableScope::Request && self.names.iter().any(|n| n == table);
        let scoped = self
            .tables
            .iter()
            .any(|(known, name)| known == scope && wildcard_matches(name, table));
        bare || scoped
    }
}
