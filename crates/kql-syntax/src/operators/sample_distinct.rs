//! `sample-distinct`.

use crate::ast::{Expr, NamedExpr};

/// `sample-distinct n of expr`
#[derive(Debug, Clone, PartialEq)]
pub struct SampleDistinctOperator {
    /// How many values.
    pub count: Expr,
    /// The column.
    pub of: NamedExpr,
}
