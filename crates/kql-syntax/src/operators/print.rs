//! `print`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, NamedExpr};
use crate::parser::Parser;

/// `print a = 1, 2`
#[derive(Debug, Clone, PartialEq)]
pub struct PrintOperator {
    /// The columns of the one row.
    pub columns: Vec<NamedExpr>,
}

impl PrintOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<PrintOperator> {
        Some(PrintOperator {
            columns: p.named_exprs()?,
        })
    }
}

impl Display for PrintOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "print {}", Commas(&self.columns))
    }
}
