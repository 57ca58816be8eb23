//! `graph-match`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, GraphPattern, NamedExpr, OperatorParameter, Parameters};
use crate::operators::graph_pattern::graph_clauses;
use crate::parser::Parser;

/// `graph-match [cycles=all|none|unique_edges] pattern, … [where predicate] project …`
#[derive(Debug, Clone, PartialEq)]
pub struct GraphMatchOperator {
    /// `cycles=…`
    pub parameters: Vec<OperatorParameter>,
    /// The patterns.
    pub patterns: Vec<GraphPattern>,
    /// `where …`
    pub predicate: Option<Expr>,
    /// `project …`; none if the clause is missing, which the binder refuses.
    pub columns: Vec<NamedExpr>,
}

impl GraphMatchOperator {
    /// Reads the operator behind its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<GraphMatchOperator> {
        let parameters = p.parameters(&["cycles"])?;
        let patterns = p.comma_list(GraphPattern::parse)?;
        let (predicate, columns) = graph_clauses(p)?;
        Some(GraphMatchOperator {
            parameters,
            patterns,
            predicate,
            columns,
        })
    }
}

impl Display for GraphMatchOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parameters = Parameters(&self.parameters);
        write!(f, "graph-match{parameters} {}", Commas(&self.patterns))?;
        if let Some(predicate) = &self.predicate {
            write!(f, " where {predicate}")?;
        }
        if !self.columns.is_empty() {
            write!(f, " project {}", Commas(&self.columns))?;
        }
        Ok(())
    }
}
