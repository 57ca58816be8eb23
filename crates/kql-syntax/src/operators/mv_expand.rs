//! `mv-expand`.

use crate::ast::{Expr, NamedExpr, OperatorParameter, TypeOf};

/// `mv-expand [kind=bag|array] [with_itemindex=i] a [to typeof(t)], … [limit n]`
#[derive(Debug, Clone, PartialEq)]
pub struct MvExpandOperator {
    /// `kind=…`, `bagexpansion=…`, `with_itemindex=…`
    pub parameters: Vec<OperatorParameter>,
    /// What is expanded.
    pub columns: Vec<MvExpandColumn>,
    /// `limit n`
    pub limit: Option<Expr>,
}

/// `[Name =] expr [to typeof(T)]`
#[derive(Debug, Clone, PartialEq)]
pub struct MvExpandColumn {
    /// What is expanded.
    pub expr: NamedExpr,
    /// `to typeof(T)`
    pub to: Option<TypeOf>,
}
