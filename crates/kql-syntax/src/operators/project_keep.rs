//! `project-keep`.

use crate::ast::Expr;

/// `project-keep a*, b`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectKeepOperator {
    /// Names and wildcards.
    pub columns: Vec<Expr>,
}
