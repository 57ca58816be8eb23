//! `consume`.

use crate::ast::OperatorParameter;

/// `consume [decodeblocks=true]`: reads everything, returns nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumeOperator {
    /// `decodeblocks=…`
    pub parameters: Vec<OperatorParameter>,
}
