//! `as`.

use crate::ast::{Name, OperatorParameter};

/// `as [hint.materialized=true] Name`: names the rows so far.
#[derive(Debug, Clone, PartialEq)]
pub struct AsOperator {
    /// `hint.materialized=…`
    pub parameters: Vec<OperatorParameter>,
    /// The name.
    pub name: Name,
}
