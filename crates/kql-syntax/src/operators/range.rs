//! `range`.

use crate::ast::{Expr, Name};

/// `range x from a to b step s`
#[derive(Debug, Clone, PartialEq)]
pub struct RangeOperator {
    /// The column.
    pub column: Name,
    /// First value.
    pub from: Expr,
    /// Last value, inclusive.
    pub to: Expr,
    /// Distance.
    pub step: Expr,
}
