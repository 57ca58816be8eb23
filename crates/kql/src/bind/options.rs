//! Applies `set` options to tables and results (`docs/semantics.md §14.1`).

use datafusion::logical_expr::{Expr, LogicalPlanBuilder, lit};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::binder::Binder;
use crate::error::{BindResult, planned};
use crate::operators::getschema::schema_rows;
use crate::relation::Relation;

impl Binder<'_> {
    /// Applies `query_results_apply_getschema`, `maxoutputcolumns` and `query_take_max_records` to a result.
    pub(crate) fn with_result_options(
        &self,
        relation: Relation,
        span: Span,
    ) -> BindResult<Relation> {
        let mut relation = relation;
        if self.request.settings.on("query_results_apply_getschema") {
            relation = schema_rows(&relation, span)?;
        }
        let columns = relation.columns.len();
        if let Some(most) = self.request.settings.number("maxoutputcolumns")
            && columns > most
        {
            let message =
                format!("the result has {columns} columns and 'maxoutputcolumns' is {most}");
            return Err(self.error(Code::TooManyColumns, message, span));
        }
        if let Some(most) = self.request.settings.number("query_take_max_records") {
            let plan = LogicalPlanBuilder::from(relation.plan).limit(0, Some(most));
            relation.plan = planned(plan.and_then(LogicalPlanBuilder::build), span)?;
        }
        Ok(relation)
    }

    /// The time range of the options `query_datetimescope_…`: the start is inclusive, the end exclusive.
    pub(crate) fn datetime_scope(
        &self,
        columns: &[(String, ScalarType)],
        column: impl Fn(&str) -> Expr,
    ) -> Option<Expr> {
        let Some(Value::String(name)) = self.request.settings.get("query_datetimescope_column")
        else {
            return None;
        };
        let known =
            |(own, kind): &(String, ScalarType)| own == name && *kind == ScalarType::DateTime;
        if !columns.iter().any(known) {
            return None;
        }
        let from = self.request.settings.ticks("query_datetimescope_from");
        let to = self.request.settings.ticks("query_datetimescope_to");
        let from = from.map(|ticks| column(name).gt_eq(lit(ticks)));
        let to = to.map(|ticks| column(name).lt(lit(ticks)));
        from.into_iter().chain(to).reduce(Expr::and)
    }
}
