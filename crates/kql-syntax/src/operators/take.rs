//! `take`.

use crate::ast::{Expr, OperatorParameter};

/// `take n`
#[derive(Debug, Clone, PartialEq)]
pub struct TakeOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// How many rows.
    pub count: Expr,
}
