//! `union`: the rows of several tables, with columns matched by name (`docs/semantics.md §17.4`).

use datafusion::logical_expr::LogicalPlanBuilder;
use hindsight_kql_syntax::ast::{Expr, ExprKind, UnionOperator};
use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::catalog::TableScope;
use crate::context::{BindContext, Bound, Entry, Env, wildcard_matches};
use crate::error::{BindResult, plan_error};
use crate::plan::union::{Leg, union_plan};
use crate::plan::{self, parameter};
use crate::relation::Relation;
use crate::subtables::placeholders::as_actual_rows;

impl TabularOperator for UnionOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: true,
            names_rows: false,
            adds_rows: true,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        bind(self, input, binder, span)
    }
}

fn bind(
    node: &UnionOperator,
    mut input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    let subtables = if plan::groups(&input.relation).is_empty() {
        None
    } else {
        binder.frame().subtables.clone()
    };
    let inner = match parameter(&node.parameters, &["kind"]) {
        None => false,
        Some(expr) => match binder.constant_word(expr)?.as_str() {
            "inner" => true,
            "outer" => false,
            other => {
                return Err(binder.error(
                    Code::Semantics,
                    format!("unknown union kind '{other}'; the kinds are inner and outer"),
                    expr.span,
                ));
            }
        },
    };
    let source = match parameter(&node.parameters, &["withsource", "with_source"]) {
        Some(expr) => Some(binder.constant_word(expr)?),
        None => None,
    };
    let fuzzy = match parameter(&node.parameters, &["isfuzzy"]) {
        Some(expr) => binder.constant_bool(expr)?,
        None => false,
    };
    let mut legs = Vec::new();
    if !input.relation.is_unit() {
        let label = input.label.take();
        legs.push(Leg {
            label: label.unwrap_or_else(|| "union_arg0".to_owned()),
            relation: input.relation.clone(),
        });
    }
    let mut others = bind_legs(&node.tables, legs.len(), "union_arg", fuzzy, binder)?;
    if let Some(subtables) = subtables {
        // The rows of the other tables are added to each subtable.
        let without_subtables = |leg: &&mut Leg| plan::groups(&leg.relation).is_empty();
        for leg in others.iter_mut().filter(without_subtables) {
            leg.relation = beside(leg.relation.clone(), Relation::clone(&subtables), span)?;
        }
        if let Some(first) = legs.first() {
            for leg in &mut others {
                leg.relation = as_actual_rows(leg.relation.clone(), &first.relation, span)?;
            }
        }
    }
    legs.extend(others);
    if legs.is_empty() {
        return Err(binder.error(
            Code::UnresolvedName,
            "Failed to resolve table expression",
            span,
        ));
    }
    input.map(|_| union_plan(legs, source.as_deref(), inner, span))
}

/// The rows of a table for each subtable.
fn beside(table: Relation, subtables: Relation, span: Span) -> BindResult<Relation> {
    let table = table.finish(span)?;
    let plan = LogicalPlanBuilder::from(subtables.plan)
        .cross_join(table.plan)
        .and_then(LogicalPlanBuilder::build)
        .map_err(|e| plan_error(e, span))?;
    let mut columns = subtables.columns;
    columns.extend(table.columns);
    Ok(Relation {
        plan,
        columns,
        serialized: false,
    })
}

/// Binds a list of tables. `first` is the position of the first one; `unnamed` is the prefix of the labels of tables without
/// a name; `fuzzy` ignores tables that cannot be resolved.
pub(crate) fn bind_legs(
    tables: &[Expr],
    first: usize,
    unnamed: &str,
    fuzzy: bool,
    binder: &mut dyn BindContext,
) -> BindResult<Vec<Leg>> {
    let mut legs = Vec::new();
    let mut failure = None;
    for (position, table) in (first..).zip(tables) {
        let label = format!("{unnamed}{position}");
        if fuzzy {
            let mut found = Vec::new();
            let result = binder.attempt(&mut |binder| {
                found = bind_table(table, label.clone(), binder)?;
                Ok(())
            });
            match result {
                Err(error) if error.code == Code::UnresolvedName => {}
                Err(error) => failure = failure.or(Some(report(error, binder)?)),
                Ok(()) => legs.extend(found),
            }
            continue;
        }
        match bind_table(table, label, binder) {
            Ok(found) => legs.extend(found),
            Err(error) => failure = failure.or(Some(report(error, binder)?)),
        }
    }
    match (legs.is_empty(), failure) {
        (true, Some(error)) => Err(error),
        _ => Ok(legs),
    }
}

/// Reports the error of a table and returns it. The other tables are bound all the same.
fn report(error: Diagnostic, binder: &mut dyn BindContext) -> BindResult<Diagnostic> {
    binder.report(error.clone())?;
    Ok(error)
}

fn bind_table(table: &Expr, unnamed: String, binder: &mut dyn BindContext) -> BindResult<Vec<Leg>> {
    if let ExprKind::Wildcard(pattern) = &table.unparenthesised().kind {
        let mut legs = Vec::new();
        for name in matching_tables(pattern, binder, table.span)? {
            legs.extend(bind_table(&name_expr(&name, table.span), name, binder)?);
        }
        return if legs.is_empty() {
            Err(binder.error(
                Code::UnresolvedName,
                format!("Failed to resolve table expression named '{pattern}'"),
                table.span,
            ))
        } else {
            Ok(legs)
        };
    }
    if let ExprKind::Member { value, member } = &table.unparenthesised().kind
        && member.text.contains('*')
    {
        return scoped_tables(value, &member.text, binder, table.span);
    }
    let frame = binder.frame().outside_operators();
    let rows = binder.within(frame, |binder| binder.bind_tabular(table))?;
    let label = label_of(table, &binder.frame().names);
    Ok(vec![Leg {
        label: label.or(rows.label).unwrap_or(unnamed),
        relation: rows.relation,
    }])
}

/// The tables of another scope that match a pattern: `app('x').r*`.
fn scoped_tables(
    scope: &Expr,
    pattern: &str,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Vec<Leg>> {
    let scope = binder.bind_scope(scope)?;
    let names = binder
        .catalog()
        .table_names(&scope)
        .map_err(|e| binder.error(Code::UnresolvedDatabase, e.to_string(), span))?;
    let mut legs = Vec::new();
    for label in names {
        if wildcard_matches(pattern, &label) && binder.may_read(&scope, &label) {
            let relation = binder.bind_table(&scope, &label, span)?;
            legs.push(Leg { label, relation });
        }
    }
    if legs.is_empty() {
        Err(binder.error(
            Code::UnresolvedName,
            format!("Failed to resolve table expression named '{pattern}'"),
            span,
        ))
    } else {
        Ok(legs)
    }
}

fn name_expr(name: &str, span: Span) -> Expr {
    Expr::new(
        ExprKind::Name(hindsight_kql_syntax::ast::Name::new(name, span)),
        span,
    )
}

/// The tables of the request and the views that match a pattern, in order of creation.
pub(crate) fn matching_tables(
    pattern: &str,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<Vec<String>> {
    let mut names = binder
        .catalog()
        .table_names(&TableScope::Request)
        .map_err(|e| binder.error(Code::Semantics, e.to_string(), span))?;
    names.retain(|name| binder.may_read(&TableScope::Request, name));
    let views = binder
        .frame()
        .names
        .names(|entry| matches!(entry, Entry::Function(f) if f.declaration.view));
    names.extend(views);
    names.retain(|name| wildcard_matches(pattern, name));
    Ok(names)
}

/// The label of a table: its own name, also through lets that only alias it.
fn label_of(table: &Expr, env: &Env) -> Option<String> {
    match &table.unparenthesised().kind {
        ExprKind::Name(name) => match env.find(&name.text) {
            Some((Entry::Tabular(target), seen)) => label_of(target, seen),
            _ => Some(name.text.clone()),
        },
        ExprKind::Member { member, .. } => Some(member.text.clone()),
        ExprKind::Call(call) => match env.find(&call.function.text) {
            Some((Entry::Function(function), _)) if function.declaration.view => {
                Some(call.function.text.clone())
            }
            _ => None,
        },
        _ => None,
    }
}
