//! `macro-expand`: runs a query for each entity of a group and returns the union of the results.

use hindsight_kql_syntax::ast::{Expr, MacroExpandOperator};
use hindsight_kql_syntax::{Code, Span};
use std::sync::Arc;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound, Entry};
use crate::error::BindResult;
use crate::plan::parameter;
use crate::plan::union::{Leg, union_plan};

impl TabularOperator for MacroExpandOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        bind(self, input, binder, span)
    }
}

fn bind(
    node: &MacroExpandOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    if !input.relation.is_unit() {
        return Err(binder.error(
            Code::Semantics,
            "the operator must be the first of its pipeline",
            span,
        ));
    }
    let inner = match parameter(&node.parameters, &["kind"]) {
        None => false,
        Some(expr) => match binder.constant_word(expr)?.as_str() {
            "inner" => true,
            "outer" => false,
            other => {
                return Err(binder.error(
                    Code::Semantics,
                    format!("unknown kind '{other}'; the kinds are inner and outer"),
                    expr.span,
                ));
            }
        },
    };
    let fuzzy = match parameter(&node.parameters, &["isfuzzy"]) {
        Some(expr) => binder.constant_bool(expr)?,
        None => false,
    };
    let entities = entities(node, binder)?;
    let outside = binder.frame().outside_operators();
    let mut bound = input;
    let mut legs = Vec::new();
    let mut failure = None;
    for (position, entity) in entities.into_iter().enumerate() {
        let group = Entry::EntityGroup(Arc::new(vec![entity]));
        let frame = outside.with_name(&node.scope.text, group);
        let mut rows = None;
        let mut bind = |binder: &mut dyn BindContext| {
            let bound = binder.within(frame.clone(), |binder| {
                binder.bind_statements(&node.body, span)
            })?;
            rows = Some(bound);
            Ok(())
        };
        let result = if fuzzy {
            binder.attempt(&mut bind)
        } else {
            bind(binder)
        };
        match result.map(|()| rows) {
            Ok(None) => {}
            Ok(Some(rows)) => {
                legs.push(Leg {
                    label: format!("union_arg{position}"),
                    relation: rows.relation.clone(),
                });
                bound = rows.behind(bound);
            }
            Err(error)
                if fuzzy
                    && matches!(error.code, Code::UnresolvedName | Code::UnresolvedDatabase) =>
            {
                failure = Some(error);
            }
            Err(error) => {
                failure = Some(error);
                legs.clear();
                break;
            }
        }
    }
    match (legs.is_empty(), failure) {
        (true, Some(error)) => Err(error),
        (true, None) => Err(binder.error(Code::Semantics, "the entity group is empty", span)),
        (false, _) => bound.map(|_| union_plan(legs, None, inner, span)),
    }
}

fn entities(node: &MacroExpandOperator, binder: &dyn BindContext) -> BindResult<Vec<Expr>> {
    if node.inline {
        return Ok(node.group.clone());
    }
    let mut entities = Vec::new();
    for group in &node.group {
        let found = group
            .as_name()
            .and_then(|name| binder.frame().names.find(name));
        match found {
            Some((Entry::EntityGroup(group), _)) => entities.extend(group.iter().cloned()),
            _ => {
                return Err(binder.error(
                    Code::UnresolvedName,
                    "an entity group is expected",
                    group.span,
                ));
            }
        }
    }
    Ok(entities)
}
