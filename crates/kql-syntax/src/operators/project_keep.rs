//! `project-keep`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr};
use crate::parser::Parser;

/// `project-keep a*, b`
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectKeepOperator {
    /// Names and wildcards.
    pub columns: Vec<Expr>,
}

impl ProjectKeepOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ProjectKeepOperator> {
        Some(ProjectKeepOperator {
            columns: p.comma_list(Parser::name_or_pattern)?,
        })
    }
}

impl Display for ProjectKeepOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "project-keep {}", Commas(&self.columns))
    }
}
