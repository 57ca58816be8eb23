//! `graph-shortest-paths`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Expr, GraphPattern, NamedExpr, OperatorParameter, Parameters};
use crate::operators::graph_pattern::graph_clauses;
use crate::parser::Parser;

/// `graph-shortest-paths [output=any|all] pattern [where predicate] project …`
#[derive(Debug, Clone, PartialEq)]
pub struct GraphShortestPathsOperator {
    /// `output=…`
    pub parameters: Vec<OperatorParameter>,
    /// The patterns; the binder refuses more than one.
    pub patterns: Vec<GraphPattern>,
    /// `where …`
    pub predicate: Option<Expr>,
    /// `project …`; none if the clause is missing, which the binder refuses.
    pub columns: Vec<NamedExpr>,
}

impl GraphShortestPathsOperator {
    /// Reads the operator behind its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<GraphShortestPathsOperator> {
        let parameters = p.parameters(&["output"])?;
        let patterns = p.comma_list(GraphPattern::parse)?;
        let (predicate, columns) = graph_clauses(p)?;
        Some(GraphShortestPathsOperator {
            parameters,
            patterns,
            predicate,
            columns,
        })
    }
}

impl Display for GraphShortestPathsOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parameters = Parameters(&self.parameters);
        write!(
            f,
            "graph-shortest-paths{parameters} {}",
            Commas(&self.patterns)
        )?;
        if let Some(predicate) = &self.predicate {
            write!(f, " where {predicate}")?;
        }
        if !self.columns.is_empty() {
            write!(f, " project {}", Commas(&self.columns))?;
        }
        Ok(())
    }
}
