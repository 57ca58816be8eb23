//! `parse-kv`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{ColumnDeclaration, Commas, Expr, OperatorParameter, Schema};
use crate::parser::Parser;

/// `parse-kv expr as (k:type, …) with (pair_delimiter=…, …)`
#[derive(Debug, Clone, PartialEq)]
pub struct ParseKvOperator {
    /// The text.
    pub source: Expr,
    /// The keys.
    pub columns: Vec<ColumnDeclaration>,
    /// `with (…)`
    pub properties: Vec<OperatorParameter>,
}

impl ParseKvOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ParseKvOperator> {
        let source = p.expr()?;
        p.expect_word("as")?;
        let columns = p.schema()?;
        let properties = if p.eat_word("with") {
            p.properties()?
        } else {
            Vec::new()
        };
        Some(ParseKvOperator {
            source,
            columns,
            properties,
        })
    }
}

impl Display for ParseKvOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "parse-kv {} as {}", self.source, Schema(&self.columns))?;
        if self.properties.is_empty() {
            return Ok(());
        }
        write!(f, " with ({})", Commas(&self.properties))
    }
}
