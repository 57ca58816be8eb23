//! `distinct`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, NamedExpr, OperatorParameter, Parameters};
use crate::parser::Parser;

/// `distinct *` or `distinct a, expr`
#[derive(Debug, Clone, PartialEq)]
pub struct DistinctOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The columns; `*` is [`ExprKind::Wildcard`](crate::ast::ExprKind::Wildcard).
    pub columns: Vec<NamedExpr>,
}

impl DistinctOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<DistinctOperator> {
        let parameters = p.parameters(&[])?;
        let columns = p.named_exprs()?;
        Some(DistinctOperator {
            parameters,
            columns,
        })
    }
}

impl Display for DistinctOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "distinct{} {}",
            Parameters(&self.parameters),
            Commas(&self.columns)
        )
    }
}
