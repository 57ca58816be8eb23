//! `join`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, OperatorParameter, Parameters, precedence, write_expr};
use crate::parser::Parser;

/// `join [kind=K] [hints] (R) on a, $left.b == $right.c`
#[derive(Debug, Clone, PartialEq)]
pub struct JoinOperator {
    /// `kind=…` and hints.
    pub parameters: Vec<OperatorParameter>,
    /// The right side.
    pub right: Expr,
    /// `on …`: names, and equalities between `$left.x` and `$right.y`.
    pub on: Vec<Expr>,
    /// `where …` in place of `on`, an older form.
    pub filter: Option<Expr>,
}

impl JoinOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<JoinOperator> {
        let parameters = p.parameters(&["kind", "withsource"])?;
        let right = p.table_reference()?;
        let mut on = Vec::new();
        let mut filter = None;
        if p.eat_word("on") {
            on = p.comma_list(Parser::expr)?;
        } else if p.eat_word("where") {
            filter = Some(p.expr()?);
        }
        Some(JoinOperator {
            parameters,
            right,
            on,
            filter,
        })
    }
}

impl Display for JoinOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "join{} ", Parameters(&self.parameters))?;
        write_expr(f, &self.right, precedence::POSTFIX)?;
        if !self.on.is_empty() {
            write!(f, " on {}", Commas(&self.on))?;
        }
        match &self.filter {
            Some(filter) => write!(f, " where {filter}"),
            None => Ok(()),
        }
    }
}
