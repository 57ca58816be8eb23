//! `mv-expand`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, NamedExpr, OperatorParameter, Parameters, TypeOf};
use crate::parser::Parser;

/// `mv-expand [kind=bag|array] [with_itemindex=i] a [to typeof(t)], … [limit n]`
#[derive(Debug, Clone, PartialEq)]
pub struct MvExpandOperator {
    /// `kind=…`, `bagexpansion=…`, `with_itemindex=…`
    pub parameters: Vec<OperatorParameter>,
    /// The expanded expression.
    pub columns: Vec<MvExpandColumn>,
    /// `limit n`
    pub limit: Option<Expr>,
}

/// `[Name =] expr [to typeof(T)]`
#[derive(Debug, Clone, PartialEq)]
pub struct MvExpandColumn {
    /// The expanded expression.
    pub expr: NamedExpr,
    /// `to typeof(T)`
    pub to: Option<TypeOf>,
}

impl MvExpandOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<MvExpandOperator> {
        let parameters = p.parameters(&["kind", "bagexpansion", "with_itemindex"])?;
        let columns = p.comma_list(MvExpandColumn::parse)?;
        let limit = if p.eat_word("limit") {
            Some(p.expr()?)
        } else {
            None
        };
        Some(MvExpandOperator {
            parameters,
            columns,
            limit,
        })
    }
}

impl Display for MvExpandOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "mv-expand{} {}",
            Parameters(&self.parameters),
            Commas(&self.columns)
        )?;
        match &self.limit {
            Some(limit) => write!(f, " limit {limit}"),
            None => Ok(()),
        }
    }
}

impl MvExpandColumn {
    /// Parses `[Name =] expr [to typeof(T)]`.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<MvExpandColumn> {
        let expr = p.named_expr()?;
        let to = if p.eat_word("to") {
            Some(p.type_of()?)
        } else {
            None
        };
        Some(MvExpandColumn { expr, to })
    }
}

impl Display for MvExpandColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.expr)?;
        match &self.to {
            Some(kind) => write!(f, " to typeof{kind}"),
            None => Ok(()),
        }
    }
}
