//! `serialize`.

use crate::ast::NamedExpr;

/// `serialize [a = expr, …]`
#[derive(Debug, Clone, PartialEq)]
pub struct SerializeOperator {
    /// New columns.
    pub columns: Vec<NamedExpr>,
}
