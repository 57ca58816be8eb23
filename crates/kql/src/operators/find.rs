//! `find`: rows of several tables that meet a predicate (`semantics.md §23.5`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Expr, ExprKind, FindOperator, FindProjection, Name};

use super::search::search_predicate;
use super::support::{Output, field, hidden_name, missing, parameter, pass, plain_name};
use super::union::{bind_legs, matching_tables};
use super::union_plan::{Leg, union_plan};
use crate::bind::{BindResult, Binder, convert};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &FindOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    if !input.is_unit() {
        return Err(binder.unsupported("'find' over a pipeline", span));
    }
    let FindProjection::Columns {
        columns,
        pack: false,
    } = &node.projection
    else {
        return Err(binder.unsupported("'find' without 'project', or with 'pack(*)',", span));
    };
    let source = match parameter(&node.parameters, &["withsource", "with_source"]) {
        Some(expr) => binder.constant_word(expr)?,
        None => "source_".to_owned(),
    };
    let tables: Vec<Expr> = match node.tables.is_empty() {
        false => node.tables.clone(),
        true => matching_tables("*", binder, span)?
            .into_iter()
            .map(|name| Expr::new(ExprKind::Name(Name::new(name, span)), span))
            .collect(),
    };
    let label = hidden_name("source");
    let mut legs = bind_legs(&tables, 0, "union_arg", false, binder)?;
    if legs.is_empty() {
        return Err(binder.error("SEM0100", "there is no table to search", span));
    }
    let rows = union_plan(legs.clone(), Some(&label), false, span)?;
    let predicate = search_predicate(&node.predicate, &rows);
    // A table that has none of the predicate's columns is left out: what it lacks is not what differs.
    let bound = binder.bind_predicate(&predicate, &rows)?;
    let read: Vec<&str> = bound
        .column_refs()
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    let knows = |leg: &Leg| read.iter().any(|name| leg.relation.column(name).is_some());
    if !read.is_empty() && legs.iter().any(knows) {
        legs.retain(knows);
    }
    let rows = union_plan(legs, Some(&label), false, span)?;
    let predicate = binder.bind_predicate(&predicate, &rows)?;
    let mut outputs: Vec<Output> = vec![(
        source,
        hindsight_kql_types::ScalarType::String,
        field(&label),
    )];
    for (column, kind) in columns {
        let Some(name) = plain_name(column) else {
            return Err(binder.error("SEM0001", "a column name is expected", column.span));
        };
        let output = match (rows.column(name), kind) {
            (Some(own), None) => pass(own),
            (Some(own), Some(kind)) => (name.to_owned(), *kind, convert(own.scalar(), *kind).expr),
            (None, Some(kind)) => (name.to_owned(), *kind, missing(*kind)),
            (None, None) => {
                let message =
                    format!("Failed to resolve column or scalar expression named '{name}'");
                return Err(binder.error("SEM0100", message, column.span));
            }
        };
        outputs.push(output);
    }
    outputs.retain(|o| !node.away.iter().any(|a| plain_name(a) == Some(&o.0)));
    rows.filter(predicate, span)?.project(outputs, span)
}
