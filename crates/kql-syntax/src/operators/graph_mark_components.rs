//! `graph-mark-components`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{OperatorParameter, Parameters};
use crate::parser::Parser;

/// `graph-mark-components [kind=weak|strong] [with_component_id=name]`
#[derive(Debug, Clone, PartialEq)]
pub struct GraphMarkComponentsOperator {
    /// `kind=…`, `with_component_id=…`
    pub parameters: Vec<OperatorParameter>,
}

impl GraphMarkComponentsOperator {
    /// Reads the operator behind its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<GraphMarkComponentsOperator> {
        Some(GraphMarkComponentsOperator {
            parameters: p.parameters(&["kind", "with_component_id"])?,
        })
    }
}

impl Display for GraphMarkComponentsOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "graph-mark-components{}", Parameters(&self.parameters))
    }
}
