//! The mining plug-ins `basket`, `autocluster` and `diffpatterns`: patterns of discrete attributes (`docs/semantics.md §24`).
//!
//! Each plug-in reads its arguments and states its rule; what they share is here. Rows with the same values are counted
//! first, so that only distinct rows are in memory. Dynamic columns are no discrete attributes and take any value.

mod mining;
mod rows;
mod rule;

use std::sync::Arc;

use hindsight_kql_syntax::ast::{Expr, ExprKind, Literal, NamedExpr, Operator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use self::rows::{Mine, SIDE, WEIGHT, WEIGHTS};
pub(super) use self::rule::Rule;
use super::args::Args;
use super::tree::{divide, multiply, name, named, of, run};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan::{self, transform};
use crate::relation::{Column, Relation};

/// What to mine.
pub(super) struct Mining<'a> {
    pub(super) rule: Rule,
    /// The column with the weight of a row; each row weighs one without it.
    pub(super) weight: Option<String>,
    /// The column and the values of it that make the two sets.
    pub(super) split: Option<(String, [String; 2])>,
    /// The wildcards: a column has that of its type.
    pub(super) wildcards: Vec<(ScalarType, &'a Expr)>,
}

impl Mining<'_> {
    /// The patterns in the rows of `input`.
    pub(super) fn run(
        &self,
        input: Relation,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Relation> {
        let columns = input.columns.clone();
        let attributes: Vec<&Column> = columns.iter().filter(|c| self.is_attribute(c)).collect();
        let rows = run(self.rows(&attributes), input, binder, span)?.finish(span)?;
        let mine = Mine {
            rule: self.rule,
            width: attributes.len(),
        };
        let real = |name: &str| Column::visible(name, ScalarType::Real);
        let mut fields: Vec<Column> = WEIGHTS.iter().map(|name| real(name)).collect();
        for (index, attribute) in attributes.iter().enumerate() {
            fields.push(Column::visible(format!("$value{index}"), attribute.kind));
            fields.push(Column::visible(format!("$has{index}"), ScalarType::Bool));
        }
        let found = transform(Arc::new(mine), rows.plan, fields, true, span)?;
        let mut shown = self.counts();
        for column in &columns {
            let index = attributes.iter().position(|a| a.name == column.name);
            shown.push(named(&column.name, self.cell(column.kind, index)));
        }
        run(vec![Operator::project(shown)], found, binder, span)
    }

    fn is_attribute(&self, column: &Column) -> bool {
        let is = |name: Option<&String>| name.is_some_and(|name| *name == column.name);
        let special = is(self.weight.as_ref()) || is(self.split.as_ref().map(|split| &split.0));
        column.kind != ScalarType::Dynamic && !special
    }

    /// The distinct rows with their weights and sets.
    fn rows(&self, attributes: &[&Column]) -> Vec<Operator> {
        let mut operators = Vec::new();
        let mut by: Vec<NamedExpr> = (0..)
            .zip(attributes)
            .map(|(index, column)| named(&format!("$value{index}"), name(&column.name)))
            .collect();
        let mut kept: Vec<NamedExpr> = (0..attributes.len())
            .map(|index| NamedExpr::bare(name(&format!("$value{index}"))))
            .collect();
        let side = match &self.split {
            None => Expr::long(0),
            Some((column, [first, second])) => {
                let is =
                    |value: &str| super::tree::equal(of("tostring", column), Expr::string(value));
                operators.push(Operator::filter(is(first).or(is(second))));
                Expr::call("iff", [is(first), Expr::long(0), Expr::long(1)])
            }
        };
        by.push(named(SIDE, side));
        let weight = match &self.weight {
            None => Expr::call("count", []),
            Some(column) => Expr::call("sum", [of("toreal", column)]),
        };
        operators.push(Operator::summarize(vec![named(WEIGHT, weight)], by));
        kept.push(named(WEIGHT, of("toreal", WEIGHT)));
        kept.push(NamedExpr::bare(name(SIDE)));
        operators.push(Operator::project(kept));
        operators
    }

    /// The columns before those of the input.
    fn counts(&self) -> Vec<NamedExpr> {
        let number = |column: &str| Expr::call("tolong", [of("round", column)]);
        let share =
            |part: &str, whole: &str| divide(multiply(Expr::real(100.0), name(part)), name(whole));
        let [a, b, total_a, total_b] = WEIGHTS;
        let id = named("SegmentId", Expr::call("row_number", [Expr::long(0)]));
        if self.split.is_none() {
            return vec![
                id,
                named("Count", number(a)),
                named("Percent", share(a, total_a)),
            ];
        }
        let difference = super::tree::subtract(share(a, total_a), share(b, total_b));
        vec![
            id,
            named("CountA", number(a)),
            named("CountB", number(b)),
            named("PercentA", share(a, total_a)),
            named("PercentB", share(b, total_b)),
            named("PercentDiffAB", Expr::call("abs", [difference])),
        ]
    }

    /// The value of a column in a pattern, or the wildcard of its type.
    fn cell(&self, kind: ScalarType, attribute: Option<usize>) -> Expr {
        let wildcard = self.wildcards.iter().find(|wildcard| wildcard.0 == kind);
        let wildcard = wildcard.map_or_else(
            || match kind {
                ScalarType::String => Expr::string(""),
                _ => Expr::literal(Literal::Null(kind)),
            },
            |wildcard| wildcard.1.clone(),
        );
        match attribute {
            None => wildcard,
            Some(index) => {
                let [has, value] = ["has", "value"].map(|part| name(&format!("${part}{index}")));
                Expr::call("iff", [has, value, wildcard])
            }
        }
    }
}

/// The next argument, unless it is left out as `'~'`.
pub(super) fn given<'c>(args: &mut Args<'c>) -> Option<&'c Expr> {
    let is_default =
        |expr: &Expr| matches!(&expr.kind, ExprKind::Literal(Literal::String(text)) if text == "~");
    args.next().filter(|expr| !is_default(expr))
}

/// The next argument, a real from `least` to 1.
pub(super) fn share(
    args: &mut Args<'_>,
    least: f64,
    default: f64,
    binder: &mut dyn BindContext,
) -> BindResult<f64> {
    let Some(expr) = given(args) else {
        return Ok(default);
    };
    match binder.bind_constant(expr)?.convert(ScalarType::Real) {
        Value::Real(share) if (least..=1.0).contains(&share) => Ok(share),
        _ => {
            let message = format!("a number from {least} to 1 is expected");
            Err(binder.error(Code::Semantics, message, expr.span))
        }
    }
}

/// The next argument, the column with the weight of a row.
pub(super) fn weight(
    args: &mut Args<'_>,
    input: &Relation,
    binder: &dyn BindContext,
) -> BindResult<Option<String>> {
    let Some(expr) = given(args) else {
        return Ok(None);
    };
    let column = plan::column_named(expr, input, binder)?;
    if column.kind.is_number() {
        return Ok(Some(column.name.clone()));
    }
    let message = "the weight must be a column of numbers";
    Err(binder.error(Code::Semantics, message, expr.span))
}

/// The next argument, a number from 1 on.
pub(super) fn positive(
    args: &mut Args<'_>,
    default: usize,
    binder: &mut dyn BindContext,
) -> BindResult<usize> {
    let Some(expr) = given(args) else {
        return Ok(default);
    };
    let number = binder.constant_long(expr)?;
    usize::try_from(number)
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| binder.error(Code::Semantics, "a number from 1 on is expected", expr.span))
}

/// The remaining arguments, the wildcards.
pub(super) fn wildcards<'c>(
    args: &mut Args<'c>,
    binder: &mut dyn BindContext,
) -> BindResult<Vec<(ScalarType, &'c Expr)>> {
    let mut wildcards = Vec::new();
    // A wildcard is left out as `'~'`, too.
    while let Some(expr) = args.next() {
        let value = binder.bind_constant(expr)?;
        if !matches!(&value, Value::String(text) if text == "~") {
            wildcards.push((value.kind(), expr));
        }
    }
    Ok(wildcards)
}
