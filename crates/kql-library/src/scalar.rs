//! A bound scalar expression: what functions and aggregates take and give while a query is bound.

use datafusion::logical_expr::Expr;
use hindsight_kql_types::{ScalarType, Value};

use crate::large;
use crate::value::value_to_scalar;

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

impl Scalar {
    /// A scalar that is not known before the query runs.
    pub fn new(expr: Expr, kind: ScalarType) -> Scalar {
        Scalar {
            expr,
            kind,
            constant: None,
        }
    }

    /// A known value.
    pub fn constant(value: Value) -> Scalar {
        Scalar {
            expr: large::literal(value_to_scalar(&value)),
            kind: value.kind(),
            constant: Some(value),
        }
    }
}
