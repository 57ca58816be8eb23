//! Results whose columns depend on data (`evaluate bag_unpack(…)`, `docs/semantics.md §24`).
//!
//! Binding does not execute plans. If it needs rows to continue, it stops and returns their plan ([`Binding::NeedsRows`]).
//! The caller executes the plan, adds the rows to [`BindOptions::discovered`] and binds again. Each attempt requests the same
//! rows in the same order, so a position identifies a request. The query then reads the same rows that binding inspected.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::ast::{Expr, Query};
use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::Value;

use super::binder::{Binder, Needed};
use super::request::Request;
use super::subquery::read_materialized;
use crate::catalog::Catalog;
use crate::error::{BindResult, plan_error};
use crate::held::HeldRows;
use crate::ingestion_time;
use crate::query::{BindOptions, BoundQuery};
use crate::relation::Relation;
use crate::steps::{MaterializedTable, Step};
use crate::value::value_from_scalar;

/// The result of one attempt to bind.
#[derive(Debug)]
pub enum Binding {
    /// The bound query.
    Bound(BoundQuery),
    /// The columns depend on these rows: execute their plan and bind again.
    NeedsRows(NeededRows),
}

/// Rows that binding needs.
#[derive(Debug)]
pub struct NeededRows {
    /// The steps that must run before the plan.
    pub steps: Vec<Step>,
    /// The plan of the rows.
    pub plan: LogicalPlan,
    /// The schema that the rows must have.
    pub schema: SchemaRef,
}

/// Binds a whole request, or returns the rows that it needs first.
///
/// # Errors
/// All independent errors of the request, in the order of the text.
pub fn bind_or_ask(
    query: &Query,
    catalog: &dyn Catalog,
    options: &BindOptions,
) -> Result<Binding, Vec<Diagnostic>> {
    let request = Request::new(catalog, options)
        .with_settings(query)
        .map_err(|error| vec![error])?;
    let mut binder = Binder::new(&request);
    let result = binder.bind_query(query);
    let output = binder.output;
    let binding = match result {
        Ok(()) => Binding::Bound(BoundQuery {
            results: output.results,
            steps: output.steps,
            repeats: !request.has_read_own(),
            settings: request.settings,
            tables: output.tables,
        }),
        Err(errors) => match output.needed {
            // All other errors are reported before any row is read.
            Some(needed) if errors.is_empty() => Binding::NeedsRows(NeededRows {
                steps: output.steps,
                plan: needed.plan,
                schema: needed.schema,
            }),
            _ => return Err(errors),
        },
    };
    with_ingestion_times(binding).map_err(|error| vec![plan_error(error, Span::default())])
}

/// The plans of a binding, in which `ingestion_time()` reads the field of tables.
fn with_ingestion_times(mut binding: Binding) -> datafusion::common::Result<Binding> {
    let (steps, mut plans) = match &mut binding {
        Binding::Bound(query) => {
            let plans = query.results.iter_mut().map(|result| &mut result.plan);
            (&mut query.steps, plans.collect())
        }
        Binding::NeedsRows(needed) => (&mut needed.steps, vec![&mut needed.plan]),
    };
    plans.extend(steps.iter_mut().map(|step| &mut step.plan));
    for plan in plans {
        *plan = ingestion_time::read(std::mem::take(plan))?;
    }
    Ok(binding)
}

/// Binds a whole request whose columns do not depend on data.
///
/// # Errors
/// As [`bind_or_ask`]. A request that needs rows to determine its columns (`evaluate bag_unpack(…)`) is refused; use
/// [`bind_or_ask`] for it.
pub fn bind(
    query: &Query,
    catalog: &dyn Catalog,
    options: &BindOptions,
) -> Result<BoundQuery, Vec<Diagnostic>> {
    match bind_or_ask(query, catalog, options)? {
        Binding::Bound(bound) => Ok(bound),
        Binding::NeedsRows(_) => Err(vec![Diagnostic::new(
            Code::Semantics,
            "the columns of the result depend on data",
            Span::default(),
        )]),
    }
}

impl Binder<'_> {
    /// The value of an expression that reads no row, also if it is known only during execution (`toscalar`).
    pub(crate) fn value_now(&mut self, expr: &Expr) -> BindResult<Value> {
        let span = expr.span;
        let scalar = self.bind_scalar(expr, &Relation::unit())?;
        if let Some(value) = scalar.constant {
            return Ok(value);
        }
        let kind = scalar.kind;
        let row = vec![("value".to_owned(), kind, scalar.expr)];
        let (_, rows) = self.discover(Relation::unit().project(row, span)?, span)?;
        let first = rows.batches().iter().find(|batch| batch.num_rows() > 0);
        let value = first.and_then(|batch| {
            let scalar = ScalarValue::try_from_array(batch.columns().first()?, 0).ok()?;
            value_from_scalar(&scalar, kind)
        });
        Ok(value.unwrap_or_else(|| Value::null(kind)))
    }

    /// The rows of `input` during binding, and a relation that reads the same rows.
    pub(crate) fn discover(
        &mut self,
        input: Relation,
        span: Span,
    ) -> BindResult<(Relation, Arc<HeldRows>)> {
        // All errors are reported before any row is read.
        if let Some(error) = self.output.errors.first() {
            return Err(error.clone());
        }
        let input = input.finish(span)?;
        let table = MaterializedTable::empty(&input.columns);
        let position = self.output.discoveries;
        self.output.discoveries += 1;
        let Some(rows) = self.request.discovered(position) else {
            self.output.needed = Some(Needed {
                plan: input.plan,
                schema: Arc::clone(table.arrow_schema()),
            });
            return Err(self.error(Code::Semantics, "the columns depend on data", span));
        };
        table.fill(Arc::clone(rows));
        let name = format!("discovered${position}");
        let relation = read_materialized(
            Arc::new(table),
            &name,
            &input.columns,
            input.serialized,
            span,
        )?;
        Ok((relation, Arc::clone(rows)))
    }
}
