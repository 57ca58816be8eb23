//! `lookup`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, OperatorParameter, Parameters, precedence, write_expr};
use crate::parser::Parser;

/// `lookup [kind=leftouter|inner] (R) on …`
#[derive(Debug, Clone, PartialEq)]
pub struct LookupOperator {
    /// `kind=…` and hints.
    pub parameters: Vec<OperatorParameter>,
    /// The right side.
    pub right: Expr,
    /// `on …`
    pub on: Vec<Expr>,
}

impl LookupOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<LookupOperator> {
        let parameters = p.parameters(&["kind"])?;
        let right = p.table_reference()?;
        p.expect_word("on")?;
        let on = p.comma_list(Parser::expr)?;
        Some(LookupOperator {
            parameters,
            right,
            on,
        })
    }
}

impl Display for LookupOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "lookup{} ", Parameters(&self.parameters))?;
        write_expr(f, &self.right, precedence::POSTFIX)?;
        write!(f, " on {}", Commas(&self.on))
    }
}
