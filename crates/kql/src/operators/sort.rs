//! `sort`: orders rows by keys (`docs/semantics.md §15.5`).

use std::sync::Arc;

use datafusion::logical_expr::{LogicalPlan, Sort, SortExpr};
use hindsight_kql_syntax::ast::{Direction, Nulls, OrderedExpr, SortOperator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::{BindResult, plan_error};
use crate::real_key::{as_key, rank};
use crate::relation::{Relation, Scalar};
use crate::window;

impl TabularOperator for SortOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: true,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &SortOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut keys = Vec::with_capacity(node.by.len());
    let mut failure = None;
    for key in &node.by {
        match bind_key(key, &input, binder) {
            Ok(key) => keys.extend(key),
            Err(error) => {
                binder.report(error.clone())?;
                failure.get_or_insert(error);
            }
        }
    }
    if let Some(error) = failure {
        return Err(error);
    }
    let input = window::absorb(binder, input, span)?;
    Ok(sorted(input, keys, None))
}

/// `input` sorted by `keys`, or its first `fetch` rows in that order.
pub(crate) fn sorted(input: Relation, keys: Vec<SortExpr>, fetch: Option<usize>) -> Relation {
    Relation {
        plan: LogicalPlan::Sort(Sort {
            expr: keys,
            input: Arc::new(input.plan),
            fetch,
        }),
        columns: input.columns,
        serialized: true,
    }
}

/// The sort keys of one written key: descending by default, with null as the smallest value.
pub(crate) fn bind_key(
    key: &OrderedExpr,
    input: &Relation,
    binder: &mut dyn BindContext,
) -> BindResult<Vec<SortExpr>> {
    let scalar = binder.bind_scalar(&key.expr, input)?;
    if scalar.kind == ScalarType::Dynamic {
        return Err(binder.error(
            Code::DynamicSortKey,
            "key can't be of dynamic type",
            key.expr.span,
        ));
    }
    let ascending = key.direction == Some(Direction::Asc);
    let nulls_first = key.nulls.map_or(ascending, |n| n == Nulls::First);
    sort_keys(scalar, ascending, nulls_first).map_err(|e| plan_error(e, key.expr.span))
}

/// NaN is sorted next to null, on the side of the values; DataFusion sorts it beyond infinity.
pub(crate) fn sort_keys(
    scalar: Scalar,
    ascending: bool,
    nulls_first: bool,
) -> datafusion::common::Result<Vec<SortExpr>> {
    let key = as_key(scalar.expr.clone(), scalar.kind);
    let value = SortExpr::new(key, ascending, nulls_first);
    if scalar.kind != ScalarType::Real {
        return Ok(vec![value]);
    }
    let rank = SortExpr::new(rank(scalar.expr), nulls_first, false);
    Ok(vec![rank, value])
}
