//! `range`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, Name};
use crate::parser::Parser;

/// `range x from a to b step s`
#[derive(Debug, Clone, PartialEq)]
pub struct RangeOperator {
    /// The column.
    pub column: Name,
    /// First value.
    pub from: Expr,
    /// Last value, inclusive.
    pub to: Expr,
    /// The distance between values.
    pub step: Expr,
}

impl RangeOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<RangeOperator> {
        let column = p.defining_name()?;
        p.expect_word("from")?;
        let from = p.expr()?;
        p.expect_word("to")?;
        let to = p.expr()?;
        p.expect_word("step")?;
        let step = p.expr()?;
        Some(RangeOperator {
            column,
            from,
            to,
            step,
        })
    }
}

impl Display for RangeOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "range {} from {} to {} step {}",
            self.column, self.from, self.to, self.step
        )
    }
}
