//! `project-by-names`.

use crate::ast::Expr;

/// `project-by-names "a", dynamic(["b"])`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectByNamesOperator {
    /// Names, patterns and arrays of them.
    pub names: Vec<Expr>,
}
