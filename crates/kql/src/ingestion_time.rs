//! `ingestion_time()`: the time at which a row of a table was received (`docs/semantics.md §10.1`).
//!
//! A provider of a table may have the field [`INGESTION_TIME`] beside the columns of the table. No operator sees it. The call is
//! bound to a kernel that returns null. The pass at the end of binding replaces it by the field where the input of the
//! operator consists of rows of tables: it carries the field up through the operators that keep rows as they are. Where it
//! cannot (above aggregations, joins, `mv-expand`), the kernel stays, because these rows were not ingested.

use std::sync::Arc;

use arrow::array::new_null_array;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, Expr, Filter, LogicalPlan, Projection, Sort, SortExpr, Union,
};
use hindsight_kql_types::ScalarType;

use crate::call::{InnerKernel, KernelId, kernel_call, kernel_view};
use crate::plan::{field, hidden_name};
use crate::relation::Scalar;
use crate::transform::with_wider_input;

/// The field of a provider that has the time at which each row was received, in ticks; null for rows of which it is not known.
pub const INGESTION_TIME: &str = "$IngestionTime";

/// The inner kernel of this file.
pub(crate) static KERNELS: &[&InnerKernel] = &[&UNKNOWN];

static UNKNOWN: InnerKernel = InnerKernel::new("$ingestion_time", |args| {
    Ok(new_null_array(&DataType::Int64, args.rows()))
});

/// A call of the function.
pub(crate) fn call() -> Scalar {
    let expr = kernel_call(&UNKNOWN, Vec::new(), Vec::new(), ScalarType::DateTime);
    Scalar::new(expr, ScalarType::DateTime)
}

/// The plan, in which calls read the field of tables; its schema stays the same.
pub(crate) fn read(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| {
        let (has_call, input) = (has_call(&node)?, node.inputs().first().copied());
        let input = match input.filter(|_| has_call) {
            Some(input) => with_field(input)?,
            None => None,
        };
        match input {
            Some(input) => over(node, Arc::new(input)),
            None => Ok(Transformed::no(node)),
        }
    })
    .map(|replaced| replaced.data)
}

fn has_call(node: &LogicalPlan) -> Result<bool> {
    for expr in node.expressions() {
        if expr.exists(|part| Ok(is_call(part)))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_call(expr: &Expr) -> bool {
    kernel_view(expr).is_some_and(|call| call.id == KernelId::Inner(&UNKNOWN))
}

/// The name of the field where it is carried.
fn name() -> String {
    hidden_name("ingestion_time")
}

/// The node over an input that has the field, with the field in place of calls.
fn over(node: LogicalPlan, input: Arc<LogicalPlan>) -> Result<Transformed<LogicalPlan>> {
    let schema = Arc::clone(node.schema());
    let new = match node {
        LogicalPlan::Projection(node) => {
            LogicalPlan::Projection(Projection::try_new(named(node.expr)?, input)?)
        }
        LogicalPlan::Aggregate(node) => LogicalPlan::Aggregate(Aggregate::try_new(
            input,
            named(node.group_expr)?,
            named(node.aggr_expr)?,
        )?),
        LogicalPlan::Filter(node) => {
            let node = Filter::try_new(replaced(node.predicate)?, input)?;
            only(&schema, LogicalPlan::Filter(node))?
        }
        LogicalPlan::Sort(node) => {
            let expr = node.expr.into_iter().map(|key| {
                Ok(SortExpr {
                    expr: replaced(key.expr)?,
                    ..key
                })
            });
            let node = Sort {
                expr: expr.collect::<Result<_>>()?,
                input,
                fetch: node.fetch,
            };
            only(&schema, LogicalPlan::Sort(node))?
        }
        other => return Ok(Transformed::no(other)),
    };
    Ok(Transformed::yes(new))
}

/// The expression with the field in place of calls.
fn replaced(expr: Expr) -> Result<Expr> {
    let expr = expr.transform_up(|part| {
        Ok(if is_call(&part) {
            Transformed::yes(field(&name()))
        } else {
            Transformed::no(part)
        })
    })?;
    Ok(expr.data)
}

/// The expressions with their original names.
fn named(exprs: Vec<Expr>) -> Result<Vec<Expr>> {
    let preserver = NamePreserver::new_for_projection();
    let renamed = exprs.into_iter().map(|expr| {
        let name = preserver.save(&expr);
        Ok(name.restore(replaced(expr)?))
    });
    renamed.collect()
}

/// The rows of a plan with the field beside their own; `None` if the rows are not those of tables.
fn with_field(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    if plan.schema().has_column_with_unqualified_name(&name()) {
        return Ok(Some(plan.clone()));
    }
    let input = || plan.inputs().first().copied().map_or(Ok(None), with_field);
    match plan {
        LogicalPlan::TableScan(scan) => {
            let source = scan.source.schema();
            let whole = scan.projection.is_none() && scan.fetch.is_none();
            if !whole || source.field_with_name(INGESTION_TIME).is_err() {
                return Ok(None);
            }
            let time = Column::new(Some(scan.table_name.clone()), INGESTION_TIME);
            beside(plan.schema(), Expr::Column(time), plan.clone()).map(Some)
        }
        LogicalPlan::Projection(projection) => {
            let Some(input) = input()? else {
                return Ok(None);
            };
            let mut exprs = projection.expr.clone();
            exprs.push(field(&name()));
            Projection::try_new(exprs, Arc::new(input))
                .map(|projection| Some(LogicalPlan::Projection(projection)))
        }
        LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) => {
            let Some(input) = input()? else {
                return Ok(None);
            };
            plan.with_new_exprs(plan.expressions(), vec![input])
                .map(Some)
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let Some(input) = input()? else {
                return Ok(None);
            };
            let time = Column::new(Some(alias.alias.clone()), name());
            let renamed = plan.with_new_exprs(Vec::new(), vec![input])?;
            beside(plan.schema(), Expr::Column(time), renamed).map(Some)
        }
        LogicalPlan::Union(union) => of_union(union),
        LogicalPlan::Extension(extension) => {
            let Some(input) = input()? else {
                return Ok(None);
            };
            Ok(with_wider_input(extension, input)?.map(LogicalPlan::Extension))
        }
        _ => Ok(None),
    }
}

/// A union has the field if an input has it; it is null in the rows of the others.
fn of_union(union: &Union) -> Result<Option<LogicalPlan>> {
    let mut inputs = Vec::with_capacity(union.inputs.len());
    let mut found = false;
    for input in &union.inputs {
        let (plan, time) = match with_field(input)? {
            Some(plan) => (plan, field(&name())),
            None => (input.as_ref().clone(), call().expr),
        };
        found |= !is_call(&time);
        inputs.push(Arc::new(beside(input.schema(), time, plan)?));
    }
    Ok(if found {
        Some(LogicalPlan::Union(Union::try_new(inputs)?))
    } else {
        None
    })
}

/// The fields of `schema`, which `plan` has, and the time.
fn beside(schema: &DFSchema, time: Expr, plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut exprs = columns(schema);
    exprs.push(time.alias(name()));
    Projection::try_new(exprs, Arc::new(plan)).map(LogicalPlan::Projection)
}

/// The fields of `schema` alone, which `plan` has.
fn only(schema: &DFSchema, plan: LogicalPlan) -> Result<LogicalPlan> {
    Projection::try_new(columns(schema), Arc::new(plan)).map(LogicalPlan::Projection)
}

fn columns(schema: &DFSchema) -> Vec<Expr> {
    let column = |(table, field): (Option<&_>, &Arc<arrow::datatypes::Field>)| {
        Expr::Column(Column::new(
            Option::<&datafusion::common::TableReference>::cloned(table),
            field.name(),
        ))
    };
    schema.iter().map(column).collect()
}
