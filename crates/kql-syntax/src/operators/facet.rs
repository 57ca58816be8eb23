//! `facet`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, Subpipe};
use crate::operators::Operator;
use crate::parser::Parser;

/// `facet by a, b [with (pipe)]`
#[derive(Debug, Clone, PartialEq)]
pub struct FacetOperator {
    /// The columns.
    pub columns: Vec<Expr>,
    /// `with (…)`
    pub with: Option<Vec<Operator>>,
}

impl FacetOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<FacetOperator> {
        p.expect_word("by")?;
        let columns = p.comma_list(Parser::column)?;
        let with = if p.eat_word("with") {
            Some(p.subpipe()?)
        } else {
            None
        };
        Some(FacetOperator { columns, with })
    }
}

impl Display for FacetOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "facet by {}", Commas(&self.columns))?;
        match &self.with {
            Some(operators) => write!(f, " with {}", Subpipe(operators)),
            None => Ok(()),
        }
    }
}
