//! `top-hitters`.

use crate::ast::{Expr, NamedExpr};

/// `top-hitters n of expr [by summand]`
#[derive(Debug, Clone, PartialEq)]
pub struct TopHittersOperator {
    /// How many values.
    pub count: Expr,
    /// The value.
    pub of: NamedExpr,
    /// What is summed; rows are counted without it.
    pub by: Option<NamedExpr>,
}
