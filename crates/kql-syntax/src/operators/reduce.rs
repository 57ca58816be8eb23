//! `reduce`.

use crate::ast::{NamedExpr, OperatorParameter};

/// `reduce [kind=source] by expr [with threshold=…, characters=…]`
#[derive(Debug, Clone, PartialEq)]
pub struct ReduceOperator {
    /// `kind=…`
    pub parameters: Vec<OperatorParameter>,
    /// The text.
    pub by: NamedExpr,
    /// `with …`
    pub properties: Vec<OperatorParameter>,
}
