//! Scans of catalog tables.

use datafusion::common::{Column as PlanColumn, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlanBuilder, lit};
use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use crate::catalog::{CatalogTable, TableScope};
use crate::context::{Entry, unknown_table};
use crate::error::{BindResult, planned};
use crate::relation::Relation;

impl Binder<'_> {
    /// The rows of a table within the request's timespan.
    pub(crate) fn bind_table(
        &mut self,
        scope: &TableScope,
        name: &str,
        span: Span,
    ) -> BindResult<Relation> {
        self.check_access(scope, name, span)
            .map_err(|error| self.consequence(name, error))?;
        let found = self
            .request
            .catalog
            .table(scope, name)
            .map_err(|e| self.error(Code::UnresolvedDatabase, e.to_string(), span))?;
        let Some(table) = found else {
            let error = self.unknown_table(scope, name, span);
            return Err(self.unresolved(name, error));
        };
        if !self.output.tables.contains(&table.name) {
            self.output.tables.push(table.name.clone());
        }
        self.scan(table, span)
    }

    /// Names only tables that the query may read, and for a bare name the tabular names in scope.
    fn unknown_table(&self, scope: &TableScope, name: &str, span: Span) -> Diagnostic {
        let mut known = self.request.catalog.table_names(scope).unwrap_or_default();
        known.retain(|table| self.may_read(scope, table));
        if *scope == TableScope::Request {
            let is_tabular =
                |entry: &Entry| matches!(entry, Entry::Tabular(_) | Entry::Relation(_));
            known.extend(self.frame.names.names(is_tabular));
        }
        let message = unknown_table(name, known.iter().map(String::as_str));
        self.error(Code::UnresolvedName, message, span)
    }

    fn scan(&self, table: CatalogTable, span: Span) -> BindResult<Relation> {
        let reference = TableReference::bare(table.name.as_str());
        let column = |name: &str| PlanExpr::Column(PlanColumn::new(Some(reference.clone()), name));
        let source = provider_as_source(table.provider);
        let mut plan = planned(
            LogicalPlanBuilder::scan(reference.clone(), source, None),
            span,
        )?;
        if let (Some((from, to)), Some(time)) =
            (self.request.timespan(), time_column(&table.columns))
        {
            let inside = column(time).gt_eq(lit(from)).and(column(time).lt(lit(to)));
            plan = planned(plan.filter(inside), span)?;
        }
        if let Some(inside) = self.datetime_scope(&table.columns, column) {
            plan = planned(plan.filter(inside), span)?;
        }
        let relation = Relation {
            plan: planned(plan.build(), span)?,
            columns: Vec::new(),
            serialized: false,
        };
        let outputs = table
            .columns
            .into_iter()
            .map(|(name, kind)| {
                let expr = column(&name).alias(&name);
                (name, kind, expr)
            })
            .collect();
        relation.project(outputs, span)
    }
}

/// The column that the request's timespan filters.
fn time_column(columns: &[(String, ScalarType)]) -> Option<&str> {
    columns
        .iter()
        .find(|(name, kind)| {
            *kind == ScalarType::DateTime && matches!(name.as_str(), "timestamp" | "TimeGenerated")
        })
        .map(|(name, _)| name.as_str())
}
