//! The plan of a union: all legs output the same columns (`docs/semantics.md §17.4`).

use std::sync::Arc;

use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, Union};
use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::{ScalarType, Value};

use crate::error::{BindResult, plan_error};
use crate::plan::{Output, free_name, groups, missing, pass, visible};
use crate::relation::{Column, Relation};
use crate::value::value_to_scalar;

/// One table of a union with its label.
#[derive(Clone)]
pub(crate) struct Leg {
    pub(crate) label: String,
    pub(crate) relation: Relation,
}

/// A column of the union: its columns in the legs, and its name.
struct Merged {
    name: String,
    source: String,
    kind: ScalarType,
}

/// The rows of all legs. `source` is the name of a first column with the label of the leg; `inner` keeps only the columns
/// that all legs have.
pub(crate) fn union_plan(
    legs: Vec<Leg>,
    source: Option<&str>,
    inner: bool,
    span: Span,
) -> BindResult<Relation> {
    let columns = merge(&legs, inner);
    if let Some(name) = source.filter(|name| columns.iter().any(|c| c.name == *name)) {
        return Err(Diagnostic::new(
            Code::Semantics,
            format!(
                "The column '{name}' for the names of the tables cannot be added: a table has a column of that name. Give it another name."
            ),
            span,
        ));
    }
    // Inside `mv-apply` and `partition` every leg has the subtable keys.
    let subtables = legs.first().map_or(Vec::new(), |leg| groups(&leg.relation));
    let mut plans = Vec::with_capacity(legs.len());
    let mut last = None;
    for leg in legs {
        let mut outputs: Vec<Output> = Vec::with_capacity(columns.len() + 1);
        if let Some(name) = source {
            let label = value_to_scalar(&Value::String(leg.label));
            let label = PlanExpr::Literal(label, None);
            outputs.push(Output::visible(name, ScalarType::String, label));
        }
        outputs.extend(columns.iter().map(|c| output(c, &leg.relation)));
        let own = |c: &Column| leg.relation.column(&c.name).map(pass);
        outputs.extend(subtables.iter().filter_map(own));
        let projected = leg.relation.project(outputs, span)?;
        plans.push(Arc::new(projected.plan.clone()));
        last = Some(projected);
    }
    let Some(last) = last else {
        return Ok(Relation::unit());
    };
    if plans.len() == 1 {
        return Ok(Relation {
            serialized: false,
            ..last
        });
    }
    let union = Union::try_new(plans).map_err(|e| plan_error(e, span))?;
    Ok(Relation {
        plan: LogicalPlan::Union(union),
        columns: last.columns,
        serialized: false,
    })
}

fn output(column: &Merged, leg: &Relation) -> Output {
    let expr = match leg.column(&column.source).filter(|c| c.kind == column.kind) {
        Some(own) => own.expr(),
        None => missing(column.kind),
    };
    Output::visible(&column.name, column.kind, expr)
}

/// The columns in order of first appearance; a name with several types becomes one column for each type.
fn merge(legs: &[Leg], inner: bool) -> Vec<Merged> {
    let mut names: Vec<(&str, Vec<ScalarType>)> = Vec::new();
    for column in legs.iter().flat_map(|leg| visible(&leg.relation)) {
        let Column { name, kind, .. } = column;
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, kinds)) if kinds.contains(kind) => {}
            Some((_, kinds)) => kinds.push(*kind),
            None => names.push((name, vec![*kind])),
        }
    }
    if inner {
        names.retain(|(name, _)| legs.iter().all(|leg| leg.relation.column(name).is_some()));
    }
    let mut taken: Vec<String> = names
        .iter()
        .filter(|(_, kinds)| kinds.len() == 1)
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let mut merged = Vec::new();
    for (name, kinds) in &names {
        for kind in kinds {
            let shown = match kinds.len() {
                1 => (*name).to_owned(),
                _ => {
                    let shown =
                        free_name(&format!("{name}_{kind}"), |n| taken.iter().any(|t| t == n));
                    taken.push(shown.clone());
                    shown
                }
            };
            merged.push(Merged {
                name: shown,
                source: (*name).to_owned(),
                kind: *kind,
            });
        }
    }
    merged
}
