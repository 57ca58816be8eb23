//! `union`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Expr, OperatorParameter, Parameters, precedence, write_expr};
use crate::parser::Parser;

/// `union [kind=…] [withsource=…] [isfuzzy=…] T1, (pipe), V*`
#[derive(Debug, Clone, PartialEq)]
pub struct UnionOperator {
    /// `kind=…`, `withsource=…`, `isfuzzy=…`, hints.
    pub parameters: Vec<OperatorParameter>,
    /// The legs.
    pub tables: Vec<Expr>,
}

impl UnionOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<UnionOperator> {
        let parameters = p.parameters(&["kind", "withsource", "with_source", "isfuzzy"])?;
        let tables = p.comma_list(Parser::table_reference)?;
        Some(UnionOperator { parameters, tables })
    }
}

impl Display for UnionOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "union{} ", Parameters(&self.parameters))?;
        for (index, table) in self.tables.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write_expr(f, table, precedence::POSTFIX)?;
        }
        Ok(())
    }
}
