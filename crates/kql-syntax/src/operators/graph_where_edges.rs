//! `graph-where-edges`.

use std::fmt::{self, Display, Formatter};

use crate::ast::Expr;
use crate::parser::Parser;

/// `graph-where-edges predicate`
#[derive(Debug, Clone, PartialEq)]
pub struct GraphWhereEdgesOperator {
    /// The predicate over the properties of an edge.
    pub predicate: Expr,
}

impl GraphWhereEdgesOperator {
    /// Reads the operator behind its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<GraphWhereEdgesOperator> {
        Some(GraphWhereEdgesOperator {
            predicate: p.expr()?,
        })
    }
}

impl Display for GraphWhereEdgesOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "graph-where-edges {}", self.predicate)
    }
}
