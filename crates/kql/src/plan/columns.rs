//! The columns of a relation by role, and expressions that read them.

use datafusion::common::Column as PlanColumn;
use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_types::ScalarType;

use crate::relation::{Column, ColumnRole, Output, Relation};
use crate::value::null_scalar;

/// The prefix of names of columns that the query cannot see. No query can write such a name.
const HIDDEN: char = '\0';

/// A name that no query can write.
pub(crate) fn hidden_name(tag: &str) -> String {
    format!("{HIDDEN}{tag}")
}

/// The columns of subtables; none outside `mv-apply` and `partition`.
pub(crate) fn groups(input: &Relation) -> Vec<Column> {
    let columns = input.columns.iter();
    columns.filter(|c| c.is_of_subtables()).cloned().collect()
}

/// The name of a column that the `mv-apply` at this depth carries for its subtables.
pub(crate) fn carried_name(depth: usize, column: &str) -> String {
    hidden_name(&format!("carried{depth}.{column}"))
}

/// The [`groups`] that identify subtables.
pub(crate) fn subtable_keys(input: &Relation) -> Vec<Column> {
    let mut keys = groups(input);
    keys.retain(Column::tells_subtables_apart);
    keys
}

/// The [`groups`] that are only carried.
pub(crate) fn carried(input: &Relation) -> Vec<Column> {
    let mut carried = groups(input);
    carried.retain(|c| c.role == ColumnRole::Carried);
    carried
}

/// The columns of the result.
pub(crate) fn visible(input: &Relation) -> impl Iterator<Item = &Column> {
    let columns = input.columns.iter();
    columns.filter(|c| c.role == ColumnRole::Visible)
}

/// A column as an output of a projection.
pub(crate) fn pass(column: &Column) -> Output {
    Output::pass(column)
}

/// The field called `name`.
pub(crate) fn field(name: &str) -> PlanExpr {
    PlanExpr::Column(PlanColumn::new_unqualified(name))
}

/// The missing value of a type: null, or `""` for strings.
pub(crate) fn missing(kind: ScalarType) -> PlanExpr {
    PlanExpr::Literal(null_scalar(kind), None)
}
