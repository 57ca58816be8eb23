//! `as`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Name, OperatorParameter, Parameters};
use crate::parser::Parser;

/// `as [hint.materialized=true] Name`: names the rows of its input.
#[derive(Debug, Clone, PartialEq)]
pub struct AsOperator {
    /// `hint.materialized=…`
    pub parameters: Vec<OperatorParameter>,
    /// The name.
    pub name: Name,
}

impl AsOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<AsOperator> {
        let parameters = p.parameters(&[])?;
        let name = p.defining_name()?;
        Some(AsOperator { parameters, name })
    }
}

impl Display for AsOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "as{} {}", Parameters(&self.parameters), self.name)
    }
}
