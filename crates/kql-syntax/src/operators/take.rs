//! `take`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, OperatorParameter, Parameters};
use crate::parser::Parser;

/// `take n`
#[derive(Debug, Clone, PartialEq)]
pub struct TakeOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The number of rows.
    pub count: Expr,
}

impl TakeOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<TakeOperator> {
        let parameters = p.parameters(&[])?;
        Some(TakeOperator {
            parameters,
            count: p.expr()?,
        })
    }
}

impl Display for TakeOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "take{} {}", Parameters(&self.parameters), self.count)
    }
}
