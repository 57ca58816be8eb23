//! `getschema`.

use std::fmt::{self, Display, Formatter};

use crate::parser::Parser;

/// `getschema`
#[derive(Debug, Clone, PartialEq)]
pub struct GetSchemaOperator {}

impl GetSchemaOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<GetSchemaOperator> {
        let _ = p;
        Some(GetSchemaOperator {})
    }
}

impl Display for GetSchemaOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("getschema")
    }
}
