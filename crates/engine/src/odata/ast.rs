//! The tree of an OData expression. Every node knows its place and how deep it is.

/// How deep a tree may be. A deeper one is refused before anything recurses over it.
pub(crate) const MAX_DEPTH: usize = 200;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// What it is.
    pub(crate) kind: NodeKind,
    /// Where it starts: for operators where the operator stands. Characters from 0.
    pub(crate) at: usize,
    /// Levels below and including this one.
    pub(crate) depth: usize,
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeKind {
    /// `null`
    Null,
    /// `true`
    Bool(bool),
    /// `12`
    Whole(i64),
    /// `1.5`, `1e3`
    Real(f64),
    /// `'it''s'`
    Text(String),
    /// `2025-01-31T12:00:00Z`, `2025-01-31`: 100 ns ticks.
    Moment(i64),
    /// `duration'PT1H'`, `12:30:00`: 100 ns ticks.
    Span(i64),
    /// `request/name`, `customDimensions/any-key`
    Path(String),
    /// `not x`
    Not(Box<Node>),
    /// `-x`
    Minus(Box<Node>),
    /// `a and b and c`, `a or b`: flat, so that long chains are not deep.
    Junction {
        /// `and`
        and: bool,
        /// At least two.
        parts: Vec<Node>,
    },
    /// `a eq b`
    Compare {
        /// Which comparison.
        op: Comparison,
        /// Left side.
        left: Box<Node>,
        /// Right side.
        right: Box<Node>,
    },
    /// `a add b`
    Arithmetic {
        /// Which operation.
        op: Arithmetic,
        /// Left side.
        left: Box<Node>,
        /// Right side.
        right: Box<Node>,
    },
    /// `a in ('x','y')`
    In {
        /// The value.
        value: Box<Node>,
        /// At least one.
        list: Vec<Node>,
    },
    /// `contains(a,'x')`; the name is in lower case.
    Call {
        /// The function.
        name: String,
        /// Its arguments.
        arguments: Vec<Node>,
    },
    /// `exception/details/any(d: d/type eq 'x')`
    Lambda {
        /// The collection.
        path: String,
        /// `all`: the condition holds for every member. Otherwise for at least one.
        all: bool,
        /// What a member is called in the condition.
        variable: String,
        /// The condition; without one there need only be a member.
        condition: Option<Box<Node>>,
    },
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `eq`
    Equal,
    /// `ne`
    NotEqual,
    /// `gt`
    Greater,
    /// `ge`
    GreaterOrEqual,
    /// `lt`
    Less,
    /// `le`
    LessOrEqual,
}

/// An arithmetic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// `add`
    Add,
    /// `sub`
    Subtract,
    /// `mul`
    Multiply,
    /// `div`: of whole numbers, a whole number.
    Divide,
    /// `divby`: never whole.
    DivideBy,
    /// `mod`
    Modulo,
}

impl NodeKind {
    /// The parts of the expression.
    pub(crate) fn children(&self) -> Vec<&Node> {
        match self {
            NodeKind::Not(inner) | NodeKind::Minus(inner) => vec![inner],
            NodeKind::Junction { parts, .. } => parts.iter().collect(),
            NodeKind::Compare { left, right, .. } | NodeKind::Arithmetic { left, right, .. } => {
                vec![left, right]
            }
            NodeKind::In { value, list } => std::iter::once(&**value).chain(list).collect(),
            NodeKind::Call { arguments, .. } => arguments.iter().collect(),
            NodeKind::Lambda { condition, .. } => condition.iter().map(AsRef::as_ref).collect(),
            _ => Vec::new(),
        }
    }

    /// Written out in the text, so that it cannot be null.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(
            self,
            NodeKind::Bool(_)
                | NodeKind::Whole(_)
                | NodeKind::Real(_)
                | NodeKind::Text(_)
                | NodeKind::Moment(_)
                | NodeKind::Span(_)
        )
    }
}
