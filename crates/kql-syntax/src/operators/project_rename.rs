//! `project-rename`.

use crate::ast::NamedExpr;

/// `project-rename new = old`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectRenameOperator {
    /// The renamings.
    pub columns: Vec<NamedExpr>,
}
