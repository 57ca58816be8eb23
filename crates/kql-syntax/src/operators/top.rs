//! `top`.

use crate::ast::{Expr, OperatorParameter, OrderedExpr};

/// `top n by key [asc|desc] [nulls first|last]`
#[derive(Debug, Clone, PartialEq)]
pub struct TopOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// How many rows.
    pub count: Expr,
    /// The key.
    pub by: OrderedExpr,
}
