//! `project`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, NamedExpr};
use crate::parser::Parser;

/// `project a, b = x`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectOperator {
    /// The columns.
    pub columns: Vec<NamedExpr>,
}

impl ProjectOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ProjectOperator> {
        Some(ProjectOperator {
            columns: p.named_exprs()?,
        })
    }
}

impl Display for ProjectOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "project {}", Commas(&self.columns))
    }
}
