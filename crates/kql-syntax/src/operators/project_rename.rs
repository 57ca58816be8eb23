//! `project-rename`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, NamedExpr};
use crate::parser::Parser;

/// `project-rename new = old`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectRenameOperator {
    /// The renamings.
    pub columns: Vec<NamedExpr>,
}

impl ProjectRenameOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ProjectRenameOperator> {
        Some(ProjectRenameOperator {
            columns: p.named_exprs()?,
        })
    }
}

impl Display for ProjectRenameOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "project-rename {}", Commas(&self.columns))
    }
}
