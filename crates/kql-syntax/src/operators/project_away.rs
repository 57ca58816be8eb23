//! `project-away`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr};
use crate::parser::Parser;

/// `project-away a*, b`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectAwayOperator {
    /// Names and wildcards.
    pub columns: Vec<Expr>,
}

impl ProjectAwayOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ProjectAwayOperator> {
        Some(ProjectAwayOperator {
            columns: p.comma_list(Parser::name_or_pattern)?,
        })
    }
}

impl Display for ProjectAwayOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "project-away {}", Commas(&self.columns))
    }
}
