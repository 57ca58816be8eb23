//! `reduce`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, NamedExpr, OperatorParameter, Parameters};
use crate::parser::Parser;

/// `reduce [kind=source] by expr [with threshold=…, characters=…]`
#[derive(Debug, Clone, PartialEq)]
pub struct ReduceOperator {
    /// `kind=…`
    pub parameters: Vec<OperatorParameter>,
    /// The text.
    pub by: NamedExpr,
    /// `with …`
    pub properties: Vec<OperatorParameter>,
}

impl ReduceOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ReduceOperator> {
        let parameters = p.parameters(&["kind"])?;
        p.expect_word("by")?;
        let by = p.named_expr()?;
        let properties = if p.eat_word("with") {
            p.comma_list(Parser::parameter)?
        } else {
            Vec::new()
        };
        Some(ReduceOperator {
            parameters,
            by,
            properties,
        })
    }
}

impl Display for ReduceOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "reduce{} by {}", Parameters(&self.parameters), self.by)?;
        if self.properties.is_empty() {
            return Ok(());
        }
        write!(f, " with {}", Commas(&self.properties))
    }
}
