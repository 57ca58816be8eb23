//! A pattern as the search reads it: nodes and steps by number.

use hindsight_kql_syntax::ast::EdgeDirection;

/// Nodes, and steps between them.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// The number of nodes.
    pub(crate) nodes: usize,
    /// The steps.
    pub(crate) steps: Vec<Step>,
    /// What may repeat in a match.
    pub(crate) cycles: Cycles,
}

/// An edge, or a path of edges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// The node before it.
    pub(crate) from: usize,
    /// The node behind it.
    pub(crate) to: usize,
    /// Where its edges lead.
    pub(crate) direction: EdgeDirection,
    /// The least number of edges.
    pub(crate) low: u32,
    /// The most edges.
    pub(crate) high: u32,
}

impl Step {
    /// Whether its edges lead along the step and against it.
    pub(crate) fn ways(self) -> [bool; 2] {
        match self.direction {
            EdgeDirection::Forward => [true, false],
            EdgeDirection::Backward => [false, true],
            EdgeDirection::Undirected => [true, true],
        }
    }
}

/// What may repeat in a match (`docs/semantics.md §25`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cycles {
    /// Nodes and edges.
    All,
    /// No edge.
    UniqueEdges,
    /// No node, and so no edge.
    None,
}
