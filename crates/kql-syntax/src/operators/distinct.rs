//! `distinct`.

use crate::ast::{NamedExpr, OperatorParameter};

/// `distinct *` or `distinct a, expr`
#[derive(Debug, Clone, PartialEq)]
pub struct DistinctOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The columns; `*` is [`ExprKind::Wildcard`](crate::ast::ExprKind::Wildcard).
    pub columns: Vec<NamedExpr>,
}
