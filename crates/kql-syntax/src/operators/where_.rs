//! `where`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, OperatorParameter, Parameters};
use crate::parser::Parser;

/// `where predicate`
#[derive(Debug, Clone, PartialEq)]
pub struct WhereOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The predicate.
    pub predicate: Expr,
}

impl WhereOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<WhereOperator> {
        let parameters = p.parameters(&[])?;
        Some(WhereOperator {
            parameters,
            predicate: p.expr()?,
        })
    }
}

impl Display for WhereOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "where{} {}",
            Parameters(&self.parameters),
            self.predicate
        )
    }
}
