//! `sample`.

use std::fmt::{self, Display, Formatter};

use crate::ast::Expr;
use crate::parser::Parser;

/// `sample n`
#[derive(Debug, Clone, PartialEq)]
pub struct SampleOperator {
    /// The number of rows.
    pub count: Expr,
}

impl SampleOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<SampleOperator> {
        Some(SampleOperator { count: p.expr()? })
    }
}

impl Display for SampleOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "sample {}", self.count)
    }
}
