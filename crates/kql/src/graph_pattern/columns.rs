//! The columns of matches.

use super::elements::Element;
use super::expressions::{Over, ReadValue};

/// A column of the matches: a field of the rows of the graph, and which rows a match reads.
#[derive(Debug, Clone)]
pub(crate) struct MatchColumn {
    /// The field.
    pub(crate) field: String,
    /// The element of the pattern.
    pub(crate) element: Element,
    /// How the column is computed.
    pub(crate) value: ReadValue,
}

impl MatchColumn {
    /// Whether the column reads rows of nodes, and not of edges.
    pub(crate) fn is_of_nodes(&self) -> bool {
        match (self.element, self.value) {
            (Element::Node(_), _) | (_, ReadValue::Path(_, Over::InnerNodes)) => true,
            (Element::Step(_), _) => false,
        }
    }
}
