//! The name that an unnamed expression gives its column (`semantics.md §13.1, §13.3`).

use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Literal, UnaryOp};

use crate::aggregates::{self, AggregateName};
use crate::functions::{ResultName, registry};

/// The name of `expr`; `None` where its column is numbered.
pub(crate) fn result_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.text.clone()),
        ExprKind::Parenthesised(inner) => result_name(inner),
        ExprKind::Member { value, member } => Some(path(value, &member.text)),
        ExprKind::Index { value, index } => Some(path(value, &step(index))),
        ExprKind::Call(call) => call_name(call),
        _ => None,
    }
}

fn path(value: &Expr, step: &str) -> String {
    match result_name(value) {
        Some(base) => format!("{base}_{step}"),
        None => step.to_owned(),
    }
}

/// The text of a step; a computed one names no key, and the language promises no name for it.
fn step(index: &Expr) -> String {
    match &index.unparenthesised().kind {
        ExprKind::Literal(Literal::String(key)) => key.clone(),
        ExprKind::Literal(Literal::Long(position)) => position.to_string().replace('-', "_"),
        ExprKind::Literal(Literal::Int(position)) => position.to_string().replace('-', "_"),
        ExprKind::Unary {
            op: UnaryOp::Minus,
            value,
        } => format!("_{}", step(value)),
        _ => "_obj".to_owned(),
    }
}

fn call_name(call: &Call) -> Option<String> {
    let name = call.function.text.as_str();
    let argument = || call.arguments.first().and_then(|a| result_name(&a.value));
    if name == "column_ifexists" || name == "columnifexists" {
        return match call.arguments.first().map(|a| &a.value.unparenthesised().kind) {
            Some(ExprKind::Literal(Literal::String(column))) => Some(column.clone()),
            _ => None,
        };
    }
    if let Some((function, _)) = registry().find(name) {
        return match function.result_name {
            ResultName::None => None,
            ResultName::FirstArgument => argument(),
            ResultName::Prefixed(prefix) => Some(format!(
                "{}_{}",
                prefix.trim_end_matches('_'),
                argument().unwrap_or_default()
            )),
            ResultName::Suffixed(suffix) => Some(format!(
                "{}_{}",
                argument().unwrap_or_else(|| "array0".to_owned()),
                suffix.trim_start_matches('_')
            )),
            ResultName::Fixed(name) => Some(name.to_owned()),
        };
    }
    match aggregates::find(name)?.0.result_name {
        AggregateName::Prefixed(prefix) => Some(format!(
            "{}_{}",
            prefix.trim_end_matches('_'),
            argument().unwrap_or_default()
        )),
        AggregateName::Columns => argument(),
    }
}
