//! `invoke`.

use std::fmt::{self, Display, Formatter};

use crate::ast::Call;
use crate::parser::Parser;

/// `invoke f(args)`
#[derive(Debug, Clone, PartialEq)]
pub struct InvokeOperator {
    /// The function; the input is its first argument.
    pub call: Call,
}

impl InvokeOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<InvokeOperator> {
        let name = p.name()?;
        Some(InvokeOperator {
            call: p.call(name)?,
        })
    }
}

impl Display for InvokeOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "invoke {}", self.call)
    }
}
