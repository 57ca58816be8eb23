//! `sample-distinct`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, NamedExpr};
use crate::parser::Parser;

/// `sample-distinct n of expr`
#[derive(Debug, Clone, PartialEq)]
pub struct SampleDistinctOperator {
    /// The number of values.
    pub count: Expr,
    /// The column.
    pub of: NamedExpr,
}

impl SampleDistinctOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<SampleDistinctOperator> {
        let count = p.expr()?;
        p.expect_word("of")?;
        Some(SampleDistinctOperator {
            count,
            of: p.named_expr()?,
        })
    }
}

impl Display for SampleDistinctOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "sample-distinct {} of {}", self.count, self.of)
    }
}
