//! What `restrict access to (…)` permits (`semantics.md §14.1`).

use super::wildcard::wildcard_matches;
use crate::catalog::TableScope;

/// What one statement permits.
#[derive(Debug)]
pub(crate) struct Access {
    /// Names and patterns of names that lets and patterns are known by; a name without `*` is a table's too.
    pub(crate) names: Vec<String>,
    /// Tables of a scope, by name or pattern.
    pub(crate) tables: Vec<(TableScope, String)>,
}

impl Access {
    /// Whether a let or a pattern of this name stays visible.
    pub(crate) fn permits_name(&self, name: &str) -> bool {
        self.names.iter().any(|n| wildcard_matches(n, name))
    }

    /// Whether a table stays visible.
    pub(crate) fn permits_table(&self, scope: &TableScope, table: &str) -> bool {
        let bare = *scope == TableScope::Request && self.names.iter().any(|n| n == table);
        let scoped = self
            .tables
            .iter()
            .any(|(known, name)| known == scope && wildcard_matches(name, table));
        bare || scoped
    }
}
