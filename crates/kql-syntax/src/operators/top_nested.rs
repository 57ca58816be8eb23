//! `top-nested`.

use crate::ast::{Direction, Expr, NamedExpr};

/// `top-nested [n] of expr [with others=c] by agg [asc|desc], top-nested …`
#[derive(Debug, Clone, PartialEq)]
pub struct TopNestedOperator {
    /// The levels, outermost first.
    pub levels: Vec<TopNestedLevel>,
}

/// One level of `top-nested`.
#[derive(Debug, Clone, PartialEq)]
pub struct TopNestedLevel {
    /// How many values; all without it.
    pub count: Option<Expr>,
    /// The value.
    pub of: NamedExpr,
    /// `with others = c`
    pub others: Option<Expr>,
    /// What ranks the values.
    pub by: NamedExpr,
    /// The written direction.
    pub direction: Option<Direction>,
}
