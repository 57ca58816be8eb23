//! `mv-apply`.

use crate::ast::{Expr, OperatorParameter};
use crate::operators::{MvExpandColumn, Operator};

/// `mv-apply [with_itemindex=i] a [to typeof(t)], … [limit n] on ( pipe )`
#[derive(Debug, Clone, PartialEq)]
pub struct MvApplyOperator {
    /// `with_itemindex=…`
    pub parameters: Vec<OperatorParameter>,
    /// What is expanded.
    pub columns: Vec<MvExpandColumn>,
    /// `limit n`
    pub limit: Option<Expr>,
    /// `id …` context id of older texts.
    pub context_id: Option<Expr>,
    /// The subquery, applied to each row's expansion.
    pub subquery: Vec<Operator>,
}
