//! `sample`.

use crate::ast::Expr;

/// `sample n`
#[derive(Debug, Clone, PartialEq)]
pub struct SampleOperator {
    /// How many rows.
    pub count: Expr,
}
