//! `project-away`.

use crate::ast::Expr;

/// `project-away a*, b`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectAwayOperator {
    /// Names and wildcards.
    pub columns: Vec<Expr>,
}
