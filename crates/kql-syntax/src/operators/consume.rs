//! `consume`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{OperatorParameter, Parameters};
use crate::parser::Parser;

/// `consume [decodeblocks=true]`: reads all rows and returns none.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumeOperator {
    /// `decodeblocks=…`
    pub parameters: Vec<OperatorParameter>,
}

impl ConsumeOperator {
    /// Parses the operator after its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<ConsumeOperator> {
        Some(ConsumeOperator {
            parameters: p.parameters(&["decodeblocks"])?,
        })
    }
}

impl Display for ConsumeOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "consume{}", Parameters(&self.parameters))
    }
}
