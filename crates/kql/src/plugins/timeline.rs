//! The timeline of plug-ins that follow ids: its columns, its ends and its windows (`docs/semantics.md §24`).

use hindsight_kql_syntax::ast::{BinaryOp, Expr, Operator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::args::Args;
use super::tree::{columns_of, equal, inside, name, named, op};
use super::windows::{column, constant, literal, ticks};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan;
use crate::relation::Relation;

/// The first arguments of a plug-in that follows ids over a timeline.
pub(super) struct Timeline {
    /// The column of the ids.
    pub(super) id: String,
    /// The column of the timeline.
    pub(super) axis: String,
    /// The type of the timeline.
    pub(super) kind: ScalarType,
    /// The first point of the timeline.
    pub(super) start: Expr,
    /// The last point of the timeline.
    pub(super) end: Expr,
}

impl Timeline {
    /// Reads `IdColumn, TimelineColumn, Start, End`.
    pub(super) fn read(
        args: &mut Args<'_>,
        input: &Relation,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Timeline> {
        let id = column(args.required("IdColumn", binder, span)?, input, binder)?;
        let axis = args.required("TimelineColumn", binder, span)?;
        let kind = plan::column_named(axis, input, binder)?.kind;
        let axis = column(axis, input, binder)?;
        let start = constant(args.required("Start", binder, span)?, kind, binder)?;
        let end = constant(args.required("End", binder, span)?, kind, binder)?;
        Ok(Timeline {
            id,
            axis,
            kind,
            start: literal(&start),
            end: literal(&end),
        })
    }

    /// A width on the axis: as an expression, and in units of the axis.
    pub(super) fn width(
        &self,
        args: &mut Args<'_>,
        what: &str,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<(Expr, i64)> {
        let expr = args.required(what, binder, span)?;
        let kind = match self.kind {
            ScalarType::DateTime => ScalarType::TimeSpan,
            other => other,
        };
        let value = constant(expr, kind, binder)?;
        match ticks(&value).filter(|units| *units > 0) {
            Some(units) => Ok((literal(&value), units)),
            None => Err(binder.error(
                Code::Semantics,
                format!("{what} must be greater than zero"),
                span,
            )),
        }
    }

    /// The start of the window that contains `value`; it has the type of the timeline.
    pub(super) fn window_of(&self, value: Expr, width: &Expr) -> Expr {
        let start = Expr::call("bin_at", [value, width.clone(), self.start.clone()]);
        match self.kind {
            ScalarType::Int => Expr::call("toint", [start]),
            _ => start,
        }
    }

    /// In rows that are sorted by `keys`: whether a row is the first one with its values of them.
    pub(super) fn begins_group(keys: Vec<Expr>) -> Expr {
        let first = equal(Expr::call("row_number", []), Expr::long(1));
        keys.into_iter().map(differs).fold(first, Expr::or)
    }

    /// The rows of the timeline with the start of their windows.
    pub(super) fn windows(&self, width: &Expr) -> Vec<Operator> {
        let axis = name(&self.axis);
        let window = self.window_of(axis.clone(), width);
        vec![
            Operator::filter(inside(&axis, &self.start, &self.end)),
            Operator::extend(vec![named("$bin", window)]),
        ]
    }

    /// The distinct ids of each window.
    pub(super) fn ids(&self, width: &Expr, dimensions: &[String]) -> Vec<Operator> {
        let mut operators = self.windows(width);
        operators.push(Operator::summarize(
            Vec::new(),
            columns_of(&["$bin", &self.id], dimensions),
        ));
        operators
    }
}

/// Whether the value of `column` differs from the one of the previous row; two nulls are the same.
fn differs(column: Expr) -> Expr {
    let before = Expr::call("prev", [column.clone()]);
    let differs = op(BinaryOp::NotEqual, before, column);
    Expr::call("coalesce", [differs, Expr::bool(false)])
}
