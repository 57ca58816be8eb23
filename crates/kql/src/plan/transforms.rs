//! Transforms as nodes of plans.

use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::Span;

use crate::error::{BindResult, plan_error};
use crate::relation::{Column, Relation};
use crate::transform::{Transform, by_keys, transformed};

/// Runs `transform` over `input`. `columns` are all the fields of the output, in order.
pub(crate) fn transform(
    transform: Arc<dyn Transform>,
    input: LogicalPlan,
    columns: Vec<impl Into<Column>>,
    serialized: bool,
    span: Span,
) -> BindResult<Relation> {
    transformed(transform, input, columns, serialized).map_err(|e| plan_error(e, span))
}

/// Runs `transform` over all rows, or over those of each subtable if some of `columns` are subtable keys.
pub(crate) fn by_group(transform: Arc<dyn Transform>, columns: &[Column]) -> Arc<dyn Transform> {
    let keys = columns.iter().filter(|c| c.tells_subtables_apart());
    by_keys(transform, keys.map(|c| c.field.clone()).collect())
}
