//! `sort`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, OperatorParameter, OrderedExpr, Parameters};
use crate::parser::Parser;

/// `sort by k [asc|desc] [nulls first|last], …`
#[derive(Debug, Clone, PartialEq)]
pub struct SortOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The keys.
    pub by: Vec<OrderedExpr>,
}

impl SortOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<SortOperator> {
        let parameters = p.parameters(&[])?;
        p.expect_word("by")?;
        let by = p.comma_list(Parser::ordered_expr)?;
        Some(SortOperator { parameters, by })
    }
}

impl Display for SortOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sort{} by {}",
            Parameters(&self.parameters),
            Commas(&self.by)
        )
    }
}
