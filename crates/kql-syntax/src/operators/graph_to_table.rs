//! `graph-to-table`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{Commas, Name, OperatorParameter, Parameters};
use crate::parser::Parser;

/// `graph-to-table nodes [as N] [with_node_id=id], edges [as E] [with_source_id=id] [with_target_id=id]`
#[derive(Debug, Clone, PartialEq)]
pub struct GraphToTableOperator {
    /// One or two tables.
    pub tables: Vec<GraphTable>,
}

/// The nodes or the edges of a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphTable {
    /// Which.
    pub kind: GraphTableKind,
    /// `as name`
    pub name: Option<Name>,
    /// `with_node_id=…`, `with_source_id=…`, `with_target_id=…`
    pub parameters: Vec<OperatorParameter>,
}

/// The rows of a table of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphTableKind {
    /// `nodes`
    Nodes,
    /// `edges`
    Edges,
}

impl GraphTableKind {
    /// The word that selects it.
    pub fn word(self) -> &'static str {
        match self {
            GraphTableKind::Nodes => "nodes",
            GraphTableKind::Edges => "edges",
        }
    }
}

impl GraphToTableOperator {
    /// Reads the operator behind its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<GraphToTableOperator> {
        let tables = p.comma_list(graph_table)?;
        Some(GraphToTableOperator { tables })
    }
}

fn graph_table(p: &mut Parser<'_>) -> Option<GraphTable> {
    let (kind, known): (_, &[&str]) = if p.eat_word("nodes") {
        (GraphTableKind::Nodes, &["with_node_id"])
    } else {
        p.expect_word("edges")?;
        (GraphTableKind::Edges, &["with_source_id", "with_target_id"])
    };
    let name = if p.eat_word("as") {
        Some(p.defining_name()?)
    } else {
        None
    };
    let parameters = p.parameters(known)?;
    Some(GraphTable {
        kind,
        name,
        parameters,
    })
}

impl Display for GraphToTableOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "graph-to-table {}", Commas(&self.tables))
    }
}

impl Display for GraphTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word())?;
        if let Some(name) = &self.name {
            write!(f, " as {name}")?;
        }
        Parameters(&self.parameters).fmt(f)
    }
}
