//! Projections, limits and aggregations that preserve subtables.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::logical_expr::{
    Aggregate, Expr as PlanExpr, Limit, LogicalPlan, LogicalPlanBuilder, lit,
};
use hindsight_kql_syntax::Span;

use super::columns::{groups, hidden_name, pass};
use crate::datafusion::distinct_projections;
use crate::error::{BindResult, plan_error};
use crate::relation::{Column, ColumnRole, Output, Relation, named};

/// A projection that also outputs the subtable keys.
///
/// A column that is only passed through keeps its field. Any other column gets a field that no projection below has, so that
/// no two projections of a plan are equal ([`distinct_projections`]).
pub(crate) fn project(
    input: Relation,
    columns: Vec<impl Into<Output>>,
    span: Span,
) -> BindResult<Relation> {
    let columns = columns.into_iter().map(Into::into);
    let mut all: Vec<Output> = groups(&input).iter().map(pass).collect();
    let own = all.len();
    all.extend(columns.filter(|o| o.role == ColumnRole::Visible));
    let names: Vec<String> = all.iter().map(|o| o.name.clone()).collect();
    let ends_chain = distinct_projections::ends_merged_chain(&input.plan);
    let below = distinct_projections::nodes(&input.plan);
    let mut taken: HashSet<String> = names.iter().take(own).cloned().collect();
    let mut passes = Vec::with_capacity(all.len());
    for output in all.iter_mut().skip(own) {
        let kept = passed_field(&output.expr, &input.columns);
        let kept = kept.filter(|field| taken.insert((*field).to_owned()));
        passes.push(kept.is_some());
        if let Some(field) = kept {
            output.name = field.to_owned();
        }
    }
    for (output, _) in all.iter_mut().skip(own).zip(passes).filter(|(_, p)| !p) {
        let name = output.name.as_str();
        if taken.contains(name) || distinct_projections::names_field(&input.plan, name) {
            output.name = hidden_name(&format!("{below}.{name}"));
        }
        if ends_chain && !matches!(output.expr, PlanExpr::Column(_)) {
            let expr = output.expr.clone();
            output.expr = distinct_projections::without_merging(expr, &input)
                .map_err(|e| plan_error(e, span))?;
        }
    }
    let mut relation = input.project(all, span)?;
    for (column, name) in relation.columns.iter_mut().zip(names) {
        column.name = name;
    }
    Ok(relation)
}

/// The field of a column that an expression only passes through; none for a field that only this operator reads, such as that
/// of a window function.
fn passed_field<'e>(expr: &'e PlanExpr, columns: &[Column]) -> Option<&'e str> {
    let PlanExpr::Column(column) = expr else {
        return None;
    };
    let of_column = column.relation.is_none() && columns.iter().any(|c| c.field == column.name);
    of_column.then_some(column.name.as_str())
}

/// At most `count` rows.
pub(crate) fn limit(input: Relation, count: usize) -> Relation {
    let fetch = i64::try_from(count).unwrap_or(i64::MAX);
    Relation {
        plan: LogicalPlan::Limit(Limit {
            skip: None,
            fetch: Some(Box::new(lit(fetch))),
            input: Arc::new(input.plan),
        }),
        ..input
    }
}

/// The relation over an aggregation, with keys and aggregates by name.
pub(crate) fn aggregate(
    input: Relation,
    keys: Vec<Output>,
    aggregates: Vec<Output>,
    span: Span,
) -> BindResult<Relation> {
    let exprs = |list: &[Output]| {
        let named = |o: &Output| named(o.expr.clone(), &o.name);
        list.iter().map(named).collect()
    };
    let plan = Aggregate::try_new(Arc::new(input.plan), exprs(&keys), exprs(&aggregates))
        .map(LogicalPlan::Aggregate)
        .and_then(|plan| {
            if keys.is_empty() {
                LogicalPlanBuilder::from(plan).limit(0, Some(1))?.build()
            } else {
                Ok(plan)
            }
        })
        .map_err(|e| plan_error(e, span))?;
    Ok(Relation {
        plan,
        columns: keys
            .into_iter()
            .chain(aggregates)
            .map(|output| output.column())
            .collect(),
        serialized: false,
    })
}
