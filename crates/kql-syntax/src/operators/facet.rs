//! `facet`.

use crate::ast::Expr;
use crate::operators::Operator;

/// `facet by a, b [with (pipe)]`
#[derive(Debug, Clone, PartialEq)]
pub struct FacetOperator {
    /// The columns.
    pub columns: Vec<Expr>,
    /// `with (…)`
    pub with: Option<Vec<Operator>>,
}
