//! `project`.

use crate::ast::NamedExpr;

/// `project a, b = x`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectOperator {
    /// The columns.
    pub columns: Vec<NamedExpr>,
}
