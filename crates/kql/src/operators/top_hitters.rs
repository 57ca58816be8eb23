//! `top-hitters`: the most frequent values, counted exactly (`docs/semantics.md §21`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{
    Argument, Call, Expr, ExprKind, Name, NamedExpr, TopHittersOperator,
};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::sort;
use super::summarize;
use super::take::row_count;
use crate::context::{BindContext, Bound};
use crate::error::{BindResult, plan_error};
use crate::plan::group_limit::limit_groups;
use crate::relation::Relation;

impl TabularOperator for TopHittersOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::KeepsAloneAtMost(&self.count),
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &TopHittersOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    let keys = summarize::bind_keys(std::slice::from_ref(&node.of), &input, binder, span)?;
    let key = keys.first().map_or("", |k| k.name.as_str());
    let (function, arguments, name) = match &node.by {
        None => ("count", vec![], format!("approximate_count_{key}")),
        Some(summand) => {
            let bound = summarize::bind_keys(std::slice::from_ref(summand), &input, binder, span)?;
            let summand_name = bound.first().map_or("", |c| c.name.as_str());
            let argument = Argument {
                name: None,
                value: summand.expr.clone(),
            };
            (
                "sum",
                vec![argument],
                format!("approximate_sum_{summand_name}"),
            )
        }
    };
    let call = Call {
        function: Name::new(function, span),
        arguments,
    };
    let aggregate = NamedExpr {
        names: vec![Name::new(name, span)],
        tuple: false,
        expr: Expr::new(ExprKind::Call(call), span),
    };
    let counted = summarize::summarize(
        &[aggregate],
        std::slice::from_ref(&node.of),
        input,
        binder,
        span,
    )?;
    let Some(rank) = counted.columns.last() else {
        return Ok(counted);
    };
    let mut order =
        sort::sort_keys(rank.scalar(), false, false).map_err(|e| plan_error(e, span))?;
    // Among equally frequent values the greater ones are kept, as in recorded answers.
    if let Some(key) = counted.columns.iter().find(|c| c.name == key) {
        let tie = sort::sort_keys(key.scalar(), false, false).map_err(|e| plan_error(e, span))?;
        order.extend(tie);
    }
    limit_groups(sort::sorted(counted, order, None), count, span)
}
