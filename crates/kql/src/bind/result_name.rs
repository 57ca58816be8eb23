//! The column name of an unnamed expression (`docs/semantics.md §13.1, §13.3`).

use std::collections::HashMap;

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Literal, UnaryOp};
use hindsight_kql_types::guid;

use crate::definition::ResultName;
use crate::functions::registry;

/// The names of the aggregate calls in an expression, by position.
pub(crate) type AggregateNames = HashMap<(u32, u32), String>;

/// The name of `expr`; `None` if its column is numbered.
pub(crate) fn result_name(expr: &Expr) -> Option<String> {
    result_name_with(expr, None)
}

/// The name of `expr`, given the names of its aggregate calls.
pub(crate) fn result_name_with(expr: &Expr, aggregates: Option<&AggregateNames>) -> Option<String> {
    let result_name = |e: &Expr| result_name_with(e, aggregates);
    match &expr.kind {
        ExprKind::Name(name) => Some(name.text.clone()),
        ExprKind::Parenthesised(inner) => result_name(inner),
        ExprKind::Member { value, member } => Some(path(value, &member.text, aggregates)),
        ExprKind::Index { value, index } => Some(path(value, &step(index), aggregates)),
        ExprKind::Call(call) => call_name(call, expr.span, aggregates),
        _ => None,
    }
}

fn path(value: &Expr, step: &str, aggregates: Option<&AggregateNames>) -> String {
    match result_name_with(value, aggregates) {
        Some(base) => format!("{base}_{step}"),
        None => step.to_owned(),
    }
}

/// The text of a path step. A computed step has no constant key, so the column gets no name.
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

/// The name of an unnamed `toscalar`, `__scalar_<guid>`. The guid is made of the place of the call, so that the name is the same
/// each time the query runs.
fn toscalar_name(span: Span) -> String {
    // Version 8 of RFC 9562 §5.8: all bits but those of version and variant are free.
    const VERSION_8: u128 = (0x8 << 76) | (0x2 << 62);
    let bits = (u128::from(span.start) << 96) | VERSION_8 | u128::from(span.end);
    format!("__scalar_{}", guid::to_text(&bits.to_be_bytes()))
}

fn call_name(call: &Call, span: Span, aggregates: Option<&AggregateNames>) -> Option<String> {
    if let Some(name) = aggregates.and_then(|names| names.get(&(span.start, span.end))) {
        return Some(name.clone());
    }
    let name = call.function.text.as_str();
    let argument = || {
        let first = call.arguments.first()?;
        result_name_with(&first.value, aggregates)
    };
    if name == "column_ifexists" || name == "columnifexists" {
        return match call
            .arguments
            .first()
            .map(|a| &a.value.unparenthesised().kind)
        {
            Some(ExprKind::Literal(Literal::String(column))) => Some(column.clone()),
            _ => None,
        };
    }
    if name == "bin_auto" {
        return argument();
    }
    if name == "toscalar" {
        return Some(toscalar_name(span));
    }
    let (function, _) = registry().find(name)?;
    match function.result_name {
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
    }
}
