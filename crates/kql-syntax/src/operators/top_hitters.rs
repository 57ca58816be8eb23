//! `top-hitters`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, NamedExpr};
use crate::parser::Parser;

/// `top-hitters n of expr [by summand]`
#[derive(Debug, Clone, PartialEq)]
pub struct TopHittersOperator {
    /// The number of values.
    pub count: Expr,
    /// The value.
    pub of: NamedExpr,
    /// The summand; without it rows are counted.
    pub by: Option<NamedExpr>,
}

impl TopHittersOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<TopHittersOperator> {
        let count = p.expr()?;
        p.expect_word("of")?;
        let of = p.named_expr()?;
        let by = if p.eat_word("by") {
            Some(p.named_expr()?)
        } else {
            None
        };
        Some(TopHittersOperator { count, of, by })
    }
}

impl Display for TopHittersOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "top-hitters {} of {}", self.count, self.of)?;
        match &self.by {
            Some(by) => write!(f, " by {by}"),
            None => Ok(()),
        }
    }
}
