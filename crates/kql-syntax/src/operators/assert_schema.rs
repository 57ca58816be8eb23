//! `assert-schema`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{ColumnDeclaration, Schema};
use crate::parser::Parser;

/// `assert-schema (a:long, b:string)`
#[derive(Debug, Clone, PartialEq)]
pub struct AssertSchemaOperator {
    /// The expected columns.
    pub columns: Vec<ColumnDeclaration>,
}

impl AssertSchemaOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<AssertSchemaOperator> {
        Some(AssertSchemaOperator {
            columns: p.schema()?,
        })
    }
}

impl Display for AssertSchemaOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "assert-schema {}", Schema(&self.columns))
    }
}
