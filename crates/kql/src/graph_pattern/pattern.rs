//! A pattern as the search reads it: nodes and steps by number.

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
    /// The node where it begins.
    pub(crate) from: usize,
    /// The node where it ends.
    pub(crate) to: usize,
    /// Its edges may lead either way.
    pub(crate) undirected: bool,
    /// The least number of edges.
    pub(crate) low: u32,
    /// The most edges.
    pub(crate) high: u32,
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
