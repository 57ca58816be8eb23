//! `lookup`.

use crate::ast::{Expr, OperatorParameter};

/// `lookup [kind=leftouter|inner] (R) on …`
#[derive(Debug, Clone, PartialEq)]
pub struct LookupOperator {
    /// `kind=…` and hints.
    pub parameters: Vec<OperatorParameter>,
    /// The right side.
    pub right: Expr,
    /// `on …`
    pub on: Vec<Expr>,
}
