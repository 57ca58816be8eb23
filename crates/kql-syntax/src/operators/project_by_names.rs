//! `project-by-names`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr};
use crate::parser::Parser;

/// `project-by-names "a", dynamic(["b"])`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectByNamesOperator {
    /// Names, patterns and arrays of them.
    pub names: Vec<Expr>,
}

impl ProjectByNamesOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ProjectByNamesOperator> {
        Some(ProjectByNamesOperator {
            names: p.comma_list(Parser::expr)?,
        })
    }
}

impl Display for ProjectByNamesOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "project-by-names {}", Commas(&self.names))
    }
}
