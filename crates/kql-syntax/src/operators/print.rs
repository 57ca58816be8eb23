//! `print`.

use crate::ast::NamedExpr;

/// `print a = 1, 2`
#[derive(Debug, Clone, PartialEq)]
pub struct PrintOperator {
    /// The columns of the one row.
    pub columns: Vec<NamedExpr>,
}
