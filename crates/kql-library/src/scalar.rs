//! Bound scalar expressions: the arguments and results of functions and aggregates during binding.

use datafusion::logical_expr::Expr;
use hindsight_kql_types::{ScalarType, Value};

use crate::large;
use crate::value::value_to_scalar;

/// A bound scalar expression.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// The expression over the fields of the input.
    pub expr: Expr,
    /// Its KQL type.
    pub kind: ScalarType,
    /// Its value, if it is known during binding (literals and folded constants).
    pub constant: Option<Value>,
}

impl Scalar {
    /// A scalar whose value is not known before the query runs.
    pub fn new(expr: Expr, kind: ScalarType) -> Scalar {
        Scalar {
            expr,
            kind,
            constant: None,
        }
    }

    /// A scalar with a known value.
    pub fn constant(value: Value) -> Scalar {
        Scalar {
            expr: large::literal(value_to_scalar(&value)),
            kind: value.kind(),
            constant: Some(value),
        }
    }
}
