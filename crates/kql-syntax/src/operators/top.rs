//! `top`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, OperatorParameter, OrderedExpr, Parameters};
use crate::parser::Parser;

/// `top n by key [asc|desc] [nulls first|last]`
#[derive(Debug, Clone, PartialEq)]
pub struct TopOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The number of rows.
    pub count: Expr,
    /// The key.
    pub by: OrderedExpr,
}

impl TopOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<TopOperator> {
        let parameters = p.parameters(&[])?;
        let count = p.expr()?;
        p.expect_word("by")?;
        let by = p.ordered_expr()?;
        Some(TopOperator {
            parameters,
            count,
            by,
        })
    }
}

impl Display for TopOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "top{} {} by {}",
            Parameters(&self.parameters),
            self.count,
            self.by
        )
    }
}
