//! Executes a bound query: its steps in order, then its results.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, LogicalPlan};
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_syntax::ast::{Query, RenderOperator};
use hindsight_kql_types::{DynamicRef, ScalarType, Value};

use crate::bind::{Binding, bind_or_ask};
use crate::catalog::Catalog;
use crate::datafusion::large_literal::{literal, waits};
use crate::datafusion::rewrite::replace_in_plan;
use crate::encoder::{encoder, finished};
use crate::held::HeldRows;
use crate::kernel::KernelError;
use crate::query::{BindOptions, BoundQuery};
use crate::relation::Column;
use crate::steps::{Step, StepKind};
use crate::value::{null_scalar, value_from_scalar};
use crate::work::CancellationToken;

/// The rows of one result.
#[derive(Debug)]
pub struct ResultTable {
    /// Its name, if the query has one.
    pub name: Option<String>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows; the fields are the columns in order.
    pub batches: Vec<RecordBatch>,
    /// The visualization of `render`, if there is one.
    pub render: Option<RenderOperator>,
    /// The rows have a defined order.
    pub sorted: bool,
}

/// Executes the steps of `query`, then returns the plans of the results with every placeholder replaced.
///
/// # Errors
/// An error of DataFusion about a plan, or a run-time error of a kernel.
pub async fn prepare(
    steps: Vec<Step>,
    context: &SessionContext,
) -> Result<HashMap<String, ScalarValue>> {
    let mut values = HashMap::new();
    for step in steps {
        let plan = substitute(step.plan, &values)?;
        let keeper = match step.kind {
            StepKind::Scalar(_) => "toscalar",
            StepKind::List(_) => "in",
            StepKind::Table(_) => "materialize",
        };
        let rows = HeldRows::collect(keeper, plan, context).await?;
        match step.kind {
            StepKind::Scalar(kind) => {
                values.insert(step.id, first_value(rows.batches(), kind)?);
            }
            StepKind::List(kind) => {
                values.insert(step.id, list_value(rows.batches(), kind)?);
            }
            StepKind::Table(table) => {
                let rows = rows.with_schema(table.arrow_schema())?;
                table.fill(Arc::new(rows));
            }
        }
    }
    Ok(values)
}

/// The reason why a request could not be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The query is invalid, or uses a construct that is not implemented.
    #[error("the query cannot be bound")]
    Diagnostics(Vec<Diagnostic>),
    /// The rows that the columns depend on could not be computed.
    #[error(transparent)]
    Run(#[from] DataFusionError),
}

/// Binds a request; executes the plans of rows that binding needs to determine its columns.
///
/// # Errors
/// The diagnostics of the request, or an error in computing the rows that the columns depend on.
pub async fn bind_with_rows(
    query: &Query,
    catalog: &dyn Catalog,
    mut options: BindOptions,
    context: &SessionContext,
) -> std::result::Result<BoundQuery, BindError> {
    loop {
        match bind_or_ask(query, catalog, &options).map_err(BindError::Diagnostics)? {
            Binding::Bound(bound) => return Ok(bound),
            Binding::NeedsRows(needed) => {
                let values = prepare(needed.steps, context).await?;
                let plan = substitute(needed.plan, &values)?;
                let rows = HeldRows::collect("evaluate", plan, context).await?;
                let rows = rows.with_schema(&needed.schema)?;
                options.discovered.push(Arc::new(rows));
            }
        }
    }
}

/// Executes all results and collects their rows.
///
/// # Errors
/// As [`prepare`].
pub async fn collect(query: BoundQuery, context: &SessionContext) -> Result<Vec<ResultTable>> {
    let values = prepare(query.steps, context).await?;
    let mut tables = Vec::with_capacity(query.results.len());
    for result in query.results {
        let plan = substitute(result.plan, &values)?;
        let batches = context.execute_logical_plan(plan).await?.collect().await?;
        tables.push(ResultTable {
            name: result.name,
            columns: result.columns,
            batches,
            render: result.render,
            sorted: result.sorted,
        });
    }
    Ok(tables)
}

/// `plan` with the values of earlier steps in place of their placeholders.
///
/// # Errors
/// A placeholder whose step has not been executed.
pub fn substitute(plan: LogicalPlan, values: &HashMap<String, ScalarValue>) -> Result<LogicalPlan> {
    if values.is_empty() {
        return Ok(plan);
    }
    let replace = |expr: Expr| match &expr {
        Expr::Placeholder(Placeholder { id, .. }) if waits(&expr) => match values.get(id) {
            Some(value) => Ok(Transformed::yes(literal(value.clone()))),
            None => Err(DataFusionError::Internal(format!(
                "the step {id} has not run"
            ))),
        },
        _ => Ok(Transformed::no(expr)),
    };
    let replace = |expr: Expr| expr.transform_up(replace).map(|t| t.data);
    replace_in_plan(plan, holds_placeholder, replace)
}

fn holds_placeholder(expr: &Expr) -> Result<bool> {
    expr.exists(|e| Ok(waits(e)))
}

fn first_value(batches: &[RecordBatch], kind: ScalarType) -> Result<ScalarValue> {
    match batches.iter().find(|b| b.num_rows() > 0) {
        Some(batch) => ScalarValue::try_from_array(batch.column(0), 0),
        None => Ok(null_scalar(kind)),
    }
}

/// The maximum number of values of the list of `in` (`docs/semantics.md §6.3`).
const MAX_LIST: usize = 1_000_000;

/// The values of the first column as one array. An array among them stands for its elements, as it does between the parentheses
/// of `in`.
fn list_value(batches: &[RecordBatch], kind: ScalarType) -> Result<ScalarValue> {
    let cancellation = CancellationToken::current();
    let mut count = 0;
    let mut encoder = encoder();
    encoder.begin_array();
    for batch in batches {
        cancellation.check()?;
        for row in 0..batch.num_rows() {
            let scalar = ScalarValue::try_from_array(batch.column(0), row)?;
            match value_from_scalar(&scalar, kind) {
                Some(Value::Dynamic(bytes)) => {
                    let dynamic = DynamicRef::new(&bytes);
                    if dynamic.type_name() == "array" {
                        count += dynamic.iter_array().count();
                        dynamic.iter_array().for_each(|item| encoder.dynamic(item));
                    } else {
                        count += 1;
                        encoder.dynamic(dynamic);
                    }
                }
                Some(value) => {
                    count += 1;
                    value.pack(&mut encoder);
                }
                None => {
                    count += 1;
                    encoder.null();
                }
            }
        }
        if count > MAX_LIST {
            return Err(failed(format!(
                "in: the list has at least {count} values; at most {MAX_LIST} are allowed"
            )));
        }
    }
    encoder.end();
    let list = finished(&mut encoder, "in")?;
    Ok(ScalarValue::BinaryView(Some(list)))
}

/// An error whose message is reported to the client unchanged.
fn failed(message: String) -> DataFusionError {
    DataFusionError::External(Box::new(KernelError::Failed(message)))
}
