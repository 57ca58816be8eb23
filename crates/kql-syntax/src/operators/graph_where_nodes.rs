//! `graph-where-nodes`.

use std::fmt::{self, Display, Formatter};

use crate::ast::Expr;
use crate::parser::Parser;

/// `graph-where-nodes predicate`
#[derive(Debug, Clone, PartialEq)]
pub struct GraphWhereNodesOperator {
    /// The predicate over the properties of a node.
    pub predicate: Expr,
}

impl GraphWhereNodesOperator {
    /// Reads the operator behind its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<GraphWhereNodesOperator> {
        Some(GraphWhereNodesOperator {
            predicate: p.expr()?,
        })
    }
}

impl Display for GraphWhereNodesOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "graph-where-nodes {}", self.predicate)
    }
}
