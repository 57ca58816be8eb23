//! `mv-apply`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, OperatorParameter, Parameters, Subpipe};
use crate::operators::{MvExpandColumn, Operator};
use crate::parser::Parser;

/// `mv-apply [with_itemindex=i] a [to typeof(t)], … [limit n] on ( pipe )`
#[derive(Debug, Clone, PartialEq)]
pub struct MvApplyOperator {
    /// `with_itemindex=…`
    pub parameters: Vec<OperatorParameter>,
    /// The expanded expressions.
    pub columns: Vec<MvExpandColumn>,
    /// `limit n`
    pub limit: Option<Expr>,
    /// `id …`, the context id of an older form.
    pub context_id: Option<Expr>,
    /// The subquery, applied to each row's expansion.
    pub subquery: Vec<Operator>,
}

impl MvApplyOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<MvApplyOperator> {
        let parameters = p.parameters(&["kind", "bagexpansion", "with_itemindex"])?;
        let columns = p.comma_list(MvExpandColumn::parse)?;
        let limit = if p.eat_word("limit") {
            Some(p.expr()?)
        } else {
            None
        };
        let context_id = if p.eat_word("id") {
            Some(p.expr()?)
        } else {
            None
        };
        p.expect_word("on")?;
        let subquery = p.subpipe()?;
        Some(MvApplyOperator {
            parameters,
            columns,
            limit,
            context_id,
            subquery,
        })
    }
}

impl Display for MvApplyOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "mv-apply{} {}",
            Parameters(&self.parameters),
            Commas(&self.columns)
        )?;
        if let Some(limit) = &self.limit {
            write!(f, " limit {limit}")?;
        }
        if let Some(id) = &self.context_id {
            write!(f, " id {id}")?;
        }
        write!(f, " on {}", Subpipe(&self.subquery))
    }
}
