//! `summarize`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, NamedExpr, OperatorParameter, Parameters};
use crate::parser::Parser;

/// `summarize [hints] aggregates by keys`
#[derive(Debug, Clone, PartialEq)]
pub struct SummarizeOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The aggregates.
    pub aggregates: Vec<NamedExpr>,
    /// `by` was written.
    pub has_by: bool,
    /// The keys.
    pub by: Vec<NamedExpr>,
}

impl SummarizeOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<SummarizeOperator> {
        let parameters = p.parameters(&[])?;
        let aggregates = if p.at_word("by") || p.at_end_of_operator() {
            Vec::new()
        } else {
            p.named_exprs()?
        };
        let has_by = p.eat_word("by");
        let by = if has_by { p.named_exprs()? } else { Vec::new() };
        Some(SummarizeOperator {
            parameters,
            aggregates,
            has_by,
            by,
        })
    }
}

impl Display for SummarizeOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "summarize{}", Parameters(&self.parameters))?;
        if !self.aggregates.is_empty() {
            write!(f, " {}", Commas(&self.aggregates))?;
        }
        if self.has_by {
            write!(f, " by {}", Commas(&self.by))?;
        }
        Ok(())
    }
}
