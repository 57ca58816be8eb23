//! Syntax trees of the plug-ins that are pipelines of KQL operators, and binding of those trees.

use hindsight_kql_syntax::ast::{BinaryOp, Expr, NamedExpr, Operator};
use hindsight_kql_syntax::{Diagnostic, Span};

use crate::context::{BindContext, Entry};
use crate::error::BindResult;
use crate::relation::Relation;
use crate::subtables::pipeline;

/// Binds operators over `input`.
pub(super) fn run(
    operators: Vec<Operator>,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    pipeline::run(&operators, input.into(), binder)
        .map(|bound| bound.relation)
        .map_err(|error| Diagnostic { span, ..error })
}

/// Binds operators over `input`; they can read `tables` by name.
pub(super) fn run_with(
    operators: Vec<Operator>,
    input: Relation,
    tables: Vec<(&str, Relation)>,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let names = tables
        .into_iter()
        .fold(binder.frame().names.clone(), |names, (name, rows)| {
            names.with(name, Entry::Relation(rows))
        });
    let frame = binder.frame().with_names(names);
    binder.within(frame, |binder| run(operators, input, binder, span))
}

/// A name: a column, or a table of [`run_with`].
pub(super) fn name(text: &str) -> Expr {
    Expr::name(text)
}

/// `name = expr`
pub(super) fn named(name: &str, expr: Expr) -> NamedExpr {
    NamedExpr::named(name, expr)
}

/// The columns without names or expressions of their own.
pub(super) fn bare(columns: &[String]) -> impl Iterator<Item = NamedExpr> {
    columns.iter().map(|c| NamedExpr::bare(Expr::name(c)))
}

/// The column `first`, then the columns of these names.
pub(super) fn names(first: &[&str], more: &[String]) -> Vec<Expr> {
    let more = more.iter().map(String::as_str);
    first.iter().copied().chain(more).map(Expr::name).collect()
}

/// `left op right`
pub(super) fn op(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

/// `left + right`
pub(super) fn add(left: Expr, right: Expr) -> Expr {
    op(BinaryOp::Add, left, right)
}

/// `left - right`
pub(super) fn subtract(left: Expr, right: Expr) -> Expr {
    op(BinaryOp::Subtract, left, right)
}

/// `left * right`
pub(super) fn multiply(left: Expr, right: Expr) -> Expr {
    op(BinaryOp::Multiply, left, right)
}

/// `left / right`
pub(super) fn divide(left: Expr, right: Expr) -> Expr {
    op(BinaryOp::Divide, left, right)
}

/// `left == right`
pub(super) fn equal(left: Expr, right: Expr) -> Expr {
    op(BinaryOp::Equal, left, right)
}

/// `left > right`
pub(super) fn greater(left: Expr, right: Expr) -> Expr {
    op(BinaryOp::Greater, left, right)
}

/// `low <= value <= high`
pub(super) fn inside(value: &Expr, low: &Expr, high: &Expr) -> Expr {
    let above = op(BinaryOp::GreaterOrEqual, value.clone(), low.clone());
    above.and(op(BinaryOp::LessOrEqual, value.clone(), high.clone()))
}

/// The column `first`, then the dimensions.
pub(super) fn columns_of(first: &[&str], dimensions: &[String]) -> Vec<NamedExpr> {
    let columns = names(first, dimensions).into_iter();
    columns.map(NamedExpr::bare).collect()
}

/// `column`, then the dimensions.
pub(super) fn keyed(column: NamedExpr, dimensions: &[String]) -> Vec<NamedExpr> {
    [column].into_iter().chain(bare(dimensions)).collect()
}

/// The operators as a pipeline over a table.
pub(super) fn over(table: &str, operators: impl IntoIterator<Item = Operator>) -> Expr {
    Expr::pipeline(name(table), operators.into_iter().collect())
}

/// `count()`
pub(super) fn count() -> Expr {
    Expr::call("count", [])
}

/// `function(column)`
pub(super) fn of(function: &str, column: &str) -> Expr {
    Expr::call(function, [name(column)])
}

/// The result of operators over `input`, evaluated once.
pub(super) fn evaluated_once(
    operators: Vec<Operator>,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let rows = run(operators, input, binder, span)?;
    binder.materialize(rows, span)
}
