//! `macro-expand`: a query for each entity of a group, their results together.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Expr, MacroExpandOperator, Statement};

use crate::bind::{BindResult, Binder, Entry};
use crate::plan::union::{Leg, union_plan};
use crate::plan::{parameter, plain_name};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &MacroExpandOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    if !input.is_unit() {
        return Err(binder.error("SEM0001", "the operator starts a pipeline", span));
    }
    let inner = match parameter(&node.parameters, &["kind"]) {
        None => false,
        Some(expr) => match binder.constant_word(expr)?.as_str() {
            "inner" => true,
            "outer" => false,
            other => {
                return Err(binder.error("SEM0001", format!("unknown kind '{other}'"), expr.span));
            }
        },
    };
    let fuzzy = match parameter(&node.parameters, &["isfuzzy"]) {
        Some(expr) => binder.constant_bool(expr)?,
        None => false,
    };
    let entities = entities(node, binder)?;
    let before = (binder.env.clone(), binder.operator.take());
    let mut legs = Vec::new();
    let mut failure = None;
    for (position, entity) in entities.into_iter().enumerate() {
        let group = Entry::EntityGroup(std::sync::Arc::new(vec![entity]));
        binder.env = before.0.block().with(&node.scope.text, group).block();
        match statements(&node.body, binder, span) {
            Ok(relation) => legs.push(Leg {
                label: format!("union_arg{position}"),
                relation,
            }),
            Err(error) if fuzzy && matches!(error.code, "SEM0100" | "SEM0056") => {
                failure = Some(error);
            }
            Err(error) => {
                failure = Some(error);
                legs.clear();
                break;
            }
        }
    }
    (binder.env, binder.operator) = before;
    match (legs.is_empty(), failure) {
        (true, Some(error)) => Err(error),
        (true, None) => Err(binder.error("SEM0001", "the entity group is empty", span)),
        (false, _) => union_plan(legs, None, inner, span),
    }
}

fn entities(node: &MacroExpandOperator, binder: &Binder<'_>) -> BindResult<Vec<Expr>> {
    if node.inline {
        return Ok(node.group.clone());
    }
    let mut entities = Vec::new();
    for group in &node.group {
        let found = plain_name(group).and_then(|name| binder.env.find(name));
        match found {
            Some((Entry::EntityGroup(group), _)) => entities.extend(group.iter().cloned()),
            _ => {
                return Err(binder.error("SEM0100", "an entity group is expected", group.span));
            }
        }
    }
    Ok(entities)
}

/// The rows of a body: lets, then one tabular expression.
pub(crate) fn statements(
    body: &[Statement],
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let mut result = None;
    for statement in body {
        match statement {
            Statement::Let(item) => binder.bind_let(item)?,
            Statement::Expression(expr) if result.is_none() => {
                result = Some(binder.bind_tabular(expr)?);
            }
            _ => {
                let message = "the body is one tabular expression behind 'let' statements";
                return Err(binder.error("SEM0001", message, span));
            }
        }
    }
    result.ok_or_else(|| binder.error("SEM0001", "the body has no tabular expression", span))
}
