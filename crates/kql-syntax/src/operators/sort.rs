//! `sort`.

use crate::ast::{OperatorParameter, OrderedExpr};

/// `sort by k [asc|desc] [nulls first|last], …`
#[derive(Debug, Clone, PartialEq)]
pub struct SortOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The keys.
    pub by: Vec<OrderedExpr>,
}
