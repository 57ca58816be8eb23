//! `extend`.

use crate::ast::NamedExpr;

/// `extend a = x, b`
#[derive(Debug, Clone, PartialEq)]
pub struct ExtendOperator {
    /// The new or replaced columns.
    pub columns: Vec<NamedExpr>,
}
