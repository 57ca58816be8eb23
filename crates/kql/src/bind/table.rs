//! Scans of catalog tables.

use datafusion::common::{Column as PlanColumn, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlanBuilder, lit};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use crate::catalog::{CatalogTable, TableScope};
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
        self.check_access(scope, name, span)?;
        let found = self
            .request
            .catalog
            .table(scope, name)
            .map_err(|e| self.error(Code::UnresolvedDatabase, e.to_string(), span))?;
        let Some(table) = found else {
            let message = format!("Failed to resolve table or column expression named '{name}'");
            return Err(self.error(Code::UnresolvedName, message, span));
        };
        if !self.output.tables.contains(&table.name) {
            self.output.tables.push(table.name.clone());
        }
        self.scan(table, span)
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
            (self.request.options.timespan, time_column(&table.columns))
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
