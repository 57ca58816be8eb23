//! Resolves the column names, patterns and parameters that an operator lists.

use hindsight_kql_syntax::ast::{Expr, ExprKind, OperatorParameter};
use hindsight_kql_syntax::{Code, Span};

use super::columns::{groups, visible};
use crate::context::{BindContext, unknown_column, wildcard_matches};
use crate::error::BindResult;
use crate::relation::{Column, Relation};

/// Refuses an operator that does not support subtables.
pub(crate) fn refuse_groups(
    input: &Relation,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<()> {
    if groups(input).is_empty() {
        Ok(())
    } else {
        Err(binder.unsupported("this operator inside 'mv-apply' or 'partition'", span))
    }
}

/// The column that a plain name denotes.
pub(crate) fn column_named<'r>(
    expr: &Expr,
    input: &'r Relation,
    binder: &dyn BindContext,
) -> BindResult<&'r Column> {
    let Some(name) = expr.as_name() else {
        return Err(binder.error(Code::Semantics, "a column name is expected here", expr.span));
    };
    input.column(name).ok_or_else(|| {
        let known = visible(input).map(|column| column.name.as_str());
        let message = unknown_column(name, known);
        binder.error(Code::UnresolvedName, message, expr.span)
    })
}

/// The visible columns that a name or a pattern with `*` matches, in the order of the input. A pattern may match none.
pub(crate) fn columns_matching(
    expr: &Expr,
    input: &Relation,
    binder: &dyn BindContext,
) -> BindResult<Vec<Column>> {
    match &expr.unparenthesised().kind {
        ExprKind::Wildcard(pattern) => Ok(visible(input)
            .filter(|c| wildcard_matches(pattern, &c.name))
            .cloned()
            .collect()),
        _ => Ok(vec![column_named(expr, input, binder)?.clone()]),
    }
}

/// The value of an operator's parameter, by any of its spellings.
pub(crate) fn parameter<'p>(
    parameters: &'p [OperatorParameter],
    names: &[&str],
) -> Option<&'p Expr> {
    parameters
        .iter()
        .rev()
        .find(|p| names.iter().any(|n| p.name.text.eq_ignore_ascii_case(n)))
        .map(|p| &p.value)
}

/// `name`, or the first of `name1`, `name2`, … that is not in use.
pub(crate) fn free_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        name.to_owned()
    } else {
        (1..)
            .map(|n: usize| format!("{name}{n}"))
            .find(|n| !taken(n))
            .unwrap_or_default()
    }
}
