//! What the binder builds: plans and expressions with KQL types beside them.

use datafusion::logical_expr::{Expr, LogicalPlan};
use hindsight_kql_types::{ScalarType, Value};

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The KQL name.
    pub name: String,
    /// Its type.
    pub kind: ScalarType,
    /// The unqualified field of the plan that holds it; equal to `name` unless that was taken.
    pub field: String,
}

/// A tabular expression: a plan and its columns in KQL order.
///
/// Invariant: every `field` is an unqualified field of `plan`, and string columns hold no nulls.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The plan. It may have fields that no column names; they are not part of the result.
    pub plan: LogicalPlan,
    /// The columns.
    pub columns: Vec<Column>,
    /// Row order is defined, so window functions are allowed (`semantics.md §22.1`).
    pub serialized: bool,
}

/// A bound scalar expression.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// The expression over the input's fields.
    pub expr: Expr,
    /// Its KQL type.
    pub kind: ScalarType,
    /// Its value, where it is known while binding (literals and what folds from them).
    pub constant: Option<Value>,
}
