//! `extend`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, NamedExpr};
use crate::parser::Parser;

/// `extend a = x, b`
#[derive(Debug, Clone, PartialEq)]
pub struct ExtendOperator {
    /// The new or replaced columns.
    pub columns: Vec<NamedExpr>,
}

impl ExtendOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ExtendOperator> {
        Some(ExtendOperator {
            columns: p.named_exprs()?,
        })
    }
}

impl Display for ExtendOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "extend {}", Commas(&self.columns))
    }
}
