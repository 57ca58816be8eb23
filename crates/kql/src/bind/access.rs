//! `restrict access to (…)`: which tables and tabular names the rest of the query may read (`docs/semantics.md §14.1`).

use std::sync::Arc;

use hindsight_kql_syntax::ast::{Expr, ExprKind};
use hindsight_kql_syntax::{Code, Span};

use super::binder::Binder;
use crate::catalog::TableScope;
use crate::context::{ACCESS, Access, Entry, names_a_scope};
use crate::error::BindResult;

impl Binder<'_> {
    /// Makes every table and tabular name invisible that the entities do not name.
    pub(super) fn bind_restrict(&mut self, entities: &[Expr]) -> BindResult<()> {
        let mut access = Access {
            names: Vec::new(),
            tables: Vec::new(),
        };
        for entity in entities {
            let entity = entity.unparenthesised();
            match &entity.kind {
                ExprKind::Name(name) => access.names.push(name.text.clone()),
                ExprKind::Wildcard(pattern) => access.names.push(pattern.clone()),
                ExprKind::Member { value, member } if names_a_scope(value) => {
                    let scope = self.bind_scope(value)?;
                    access.tables.push((scope, member.text.clone()));
                }
                _ => {
                    let message = "restrict access: a table, a name of 'let' or a pattern of names is expected";
                    return Err(self.error(Code::Semantics, message, entity.span));
                }
            }
        }
        self.frame.names = self
            .frame
            .names
            .with(ACCESS, Entry::Access(Arc::new(access)));
        Ok(())
    }

    /// Whether the preceding statements permit reading a table here.
    pub(crate) fn may_read(&self, scope: &TableScope, table: &str) -> bool {
        self.frame
            .names
            .accesses()
            .iter()
            .all(|access| access.permits_table(scope, table))
    }

    /// Refuses a table that is not visible here with the error for a table that does not exist.
    pub(super) fn check_access(
        &self,
        scope: &TableScope,
        table: &str,
        span: Span,
    ) -> BindResult<()> {
        if self.may_read(scope, table) {
            Ok(())
        } else {
            let message = format!(
                "Failed to resolve table or column expression named '{table}': 'restrict access' does not permit it"
            );
            Err(self.error(Code::UnresolvedName, message, span))
        }
    }
}
