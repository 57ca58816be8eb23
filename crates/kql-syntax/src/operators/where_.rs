//! `where`.

use crate::ast::{Expr, OperatorParameter};

/// `where predicate`
#[derive(Debug, Clone, PartialEq)]
pub struct WhereOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The predicate.
    pub predicate: Expr,
}
