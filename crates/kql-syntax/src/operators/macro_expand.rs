//! `macro-expand`.

use crate::ast::{Expr, Name, OperatorParameter, Statement};

/// `macro-expand [kind=…] G as s ( body )`
#[derive(Debug, Clone, PartialEq)]
pub struct MacroExpandOperator {
    /// `kind=…`, `isfuzzy=…`
    pub parameters: Vec<OperatorParameter>,
    /// The group: a name, or an inline `entity_group [ … ]`.
    pub group: Vec<Expr>,
    /// `entity_group [ … ]` was written inline.
    pub inline: bool,
    /// The scope's name.
    pub scope: Name,
    /// The body.
    pub body: Vec<Statement>,
}
