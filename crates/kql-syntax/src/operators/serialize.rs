//! `serialize`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, NamedExpr};
use crate::parser::Parser;

/// `serialize [a = expr, …]`
#[derive(Debug, Clone, PartialEq)]
pub struct SerializeOperator {
    /// New columns.
    pub columns: Vec<NamedExpr>,
}

impl SerializeOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<SerializeOperator> {
        let columns = if p.at_end_of_operator() {
            Vec::new()
        } else {
            p.named_exprs()?
        };
        Some(SerializeOperator { columns })
    }
}

impl Display for SerializeOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("serialize")?;
        if self.columns.is_empty() {
            return Ok(());
        }
        write!(f, " {}", Commas(&self.columns))
    }
}
