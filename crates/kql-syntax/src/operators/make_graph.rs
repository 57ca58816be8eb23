//! `make-graph`.

use std::fmt::{self, Display, Formatter};

use crate::ast::{
    Commas, Expr, Name, OperatorParameter, Parameters, Subpipe, precedence, write_expr,
};
use crate::operators::Operator;
use crate::parser::Parser;
use crate::token::TokenKind;

/// `make-graph source --> target [with T on id, … | with_node_id=name] [partitioned-by column ( pipe )]`
#[derive(Debug, Clone, PartialEq)]
pub struct MakeGraphOperator {
    /// Hints.
    pub parameters: Vec<OperatorParameter>,
    /// The column with the id of an edge's source.
    pub source: Name,
    /// `-->`, and not `--`.
    pub directed: bool,
    /// The column with the id of an edge's target.
    pub target: Name,
    /// The clause about the properties of nodes.
    pub nodes: Option<GraphNodes>,
    /// `partitioned-by …`
    pub partition: Option<GraphPartition>,
}

/// Where the properties of the nodes come from.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphNodes {
    /// `with T on id, …`
    Tables(Vec<NodeTable>),
    /// `with_node_id=name`: the id is the only property.
    Id(Name),
}

/// `T on id`
#[derive(Debug, Clone, PartialEq)]
pub struct NodeTable {
    /// The table.
    pub table: Expr,
    /// Its column with the ids of the nodes.
    pub id: Name,
}

/// `partitioned-by column ( pipe )`
#[derive(Debug, Clone, PartialEq)]
pub struct GraphPartition {
    /// The column whose values have a graph each.
    pub by: Expr,
    /// What runs on each graph.
    pub operators: Vec<Operator>,
}

impl MakeGraphOperator {
    /// Reads the operator behind its keyword.
    pub(crate) fn parse(p: &mut Parser<'_>) -> Option<MakeGraphOperator> {
        let parameters = p.parameters(&[])?;
        let source = p.name()?;
        let directed = p.eat_adjacent(&[TokenKind::Minus, TokenKind::Minus, TokenKind::Greater]);
        if !directed && !p.eat_adjacent(&[TokenKind::Minus, TokenKind::Minus]) {
            return p.fail();
        }
        let target = p.name()?;
        Some(MakeGraphOperator {
            parameters,
            source,
            directed,
            target,
            nodes: graph_nodes(p)?,
            partition: partition(p)?,
        })
    }
}

fn graph_nodes(p: &mut Parser<'_>) -> Option<Option<GraphNodes>> {
    if p.eat_word("with_node_id") {
        p.expect(TokenKind::Assign)?;
        return Some(Some(GraphNodes::Id(p.defining_name()?)));
    }
    if !p.eat_word("with") {
        return Some(None);
    }
    let tables = p.comma_list(|p| {
        let table = p.nested(|p| p.postfix(false))?;
        p.expect_word("on")?;
        let id = p.name()?;
        Some(NodeTable { table, id })
    })?;
    Some(Some(GraphNodes::Tables(tables)))
}

fn partition(p: &mut Parser<'_>) -> Option<Option<GraphPartition>> {
    if !p.eat_joined("partitioned-by") {
        return Some(None);
    }
    let by = p.column()?;
    let operators = p.subpipe()?;
    Some(Some(GraphPartition { by, operators }))
}

impl Display for MakeGraphOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "make-graph{} {} {} {}",
            Parameters(&self.parameters),
            self.source,
            if self.directed { "-->" } else { "--" },
            self.target
        )?;
        match &self.nodes {
            Some(GraphNodes::Tables(tables)) => write!(f, " with {}", Commas(tables))?,
            Some(GraphNodes::Id(name)) => write!(f, " with_node_id = {name}")?,
            None => {}
        }
        match &self.partition {
            Some(GraphPartition { by, operators }) => {
                write!(f, " partitioned-by {by} {}", Subpipe(operators))
            }
            None => Ok(()),
        }
    }
}

impl Display for NodeTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_expr(f, &self.table, precedence::POSTFIX)?;
        write!(f, " on {}", self.id)
    }
}
