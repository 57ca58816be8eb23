//! `fork`.

use crate::ast::Name;
use crate::operators::Operator;

/// `fork [name=] (pipe) (pipe)`
#[derive(Debug, Clone, PartialEq)]
pub struct ForkOperator {
    /// The branches.
    pub branches: Vec<ForkBranch>,
}

/// `[name =] ( pipe )`
#[derive(Debug, Clone, PartialEq)]
pub struct ForkBranch {
    /// The result's name.
    pub name: Option<Name>,
    /// What runs on the input.
    pub operators: Vec<Operator>,
}
