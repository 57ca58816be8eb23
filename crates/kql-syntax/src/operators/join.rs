//! `join`.

use crate::ast::{Expr, OperatorParameter};

/// `join [kind=K] [hints] (R) on a, $left.b == $right.c`
#[derive(Debug, Clone, PartialEq)]
pub struct JoinOperator {
    /// `kind=…` and hints.
    pub parameters: Vec<OperatorParameter>,
    /// The right side.
    pub right: Expr,
    /// `on …`: names, and equalities between `$left.x` and `$right.y`.
    pub on: Vec<Expr>,
    /// `where …` in place of `on`, which older texts carry.
    pub filter: Option<Expr>,
}
