//! The variables of patterns.

use hindsight_kql_syntax::ast::{Expr, GraphPattern, PatternEdge, PatternNode};
use hindsight_kql_syntax::{Code, Span};

use super::pattern::Step;
use crate::context::BindContext;
use crate::error::BindResult;

/// A node or a step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Element {
    /// A node, by number.
    Node(usize),
    /// A step, by number.
    Step(usize),
}

/// The nodes and steps of the patterns with their variables.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    /// The variable of each node.
    nodes: Vec<Option<String>>,
    pub(crate) steps: Vec<Step>,
    /// The variable of each step, and whether it has a range.
    variables: Vec<(Option<String>, bool)>,
    /// The first and the last node of the last pattern.
    ends: (usize, usize),
}

impl Elements {
    /// Resolves the variables of patterns. A node that stands twice is one node.
    ///
    /// # Errors
    /// Patterns without a node in common (SEM1011), an empty range (SEM1013), or a variable of two edges.
    pub(crate) fn new(
        patterns: &[GraphPattern],
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Elements> {
        let mut elements = Elements::default();
        for pattern in patterns {
            let first = elements.node(&pattern.first, binder)?;
            let mut from = first;
            for (edge, node) in &pattern.steps {
                let to = elements.node(node, binder)?;
                elements.add_step(edge, from, to, binder)?;
                from = to;
            }
            elements.ends = (first, from);
        }
        if !elements.is_connected() {
            let message = "the patterns have no node in common";
            return Err(binder.error(Code::DisconnectedPatterns, message, span));
        }
        Ok(elements)
    }

    /// The number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The first and the last node of the only pattern.
    pub(crate) fn ends(&self) -> (usize, usize) {
        self.ends
    }

    /// The element that a variable denotes.
    pub(crate) fn find(&self, variable: &str) -> Option<Element> {
        let is = |name: &Option<String>| name.as_deref() == Some(variable);
        let node = self.nodes.iter().position(is).map(Element::Node);
        let step = || self.variables.iter().position(|(name, _)| is(name));
        node.or_else(|| step().map(Element::Step))
    }

    /// Whether an element is a step with a range.
    pub(crate) fn is_path(&self, element: Element) -> bool {
        match element {
            Element::Node(_) => false,
            Element::Step(step) => self.variables.get(step).is_some_and(|(_, range)| *range),
        }
    }

    fn node(&mut self, node: &PatternNode, binder: &dyn BindContext) -> BindResult<usize> {
        let Some(name) = &node.name else {
            self.nodes.push(None);
            return Ok(self.nodes.len() - 1);
        };
        match self.find(&name.text) {
            Some(Element::Node(known)) => Ok(known),
            Some(Element::Step(_)) => {
                let message = format!("'{}' is the name of a node and of an edge", name.text);
                Err(binder.error(Code::Semantics, message, name.span()))
            }
            None => {
                self.nodes.push(Some(name.text.clone()));
                Ok(self.nodes.len() - 1)
            }
        }
    }

    fn add_step(
        &mut self,
        edge: &PatternEdge,
        before: usize,
        behind: usize,
        binder: &mut dyn BindContext,
    ) -> BindResult<()> {
        if let Some(name) = &edge.name
            && self.find(&name.text).is_some()
        {
            let message = format!("'{}' is the name of another element", name.text);
            return Err(binder.error(Code::Semantics, message, name.span()));
        }
        let (low, high) = match &edge.range {
            None => (1, 1),
            Some(range) => (bound(&range.low, binder)?, bound(&range.high, binder)?),
        };
        if low > high {
            let message = format!("the range {low}..{high} is empty");
            return Err(binder.error(Code::EdgeRange, message, edge.span));
        }
        self.steps.push(Step {
            from: before,
            to: behind,
            direction: edge.direction,
            low,
            high,
        });
        let name = edge.name.as_ref().map(|name| name.text.clone());
        self.variables.push((name, edge.range.is_some()));
        Ok(())
    }

    /// Whether every node can be reached from the first along steps.
    fn is_connected(&self) -> bool {
        let mut reached = vec![false; self.nodes.len()];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        let is = |reached: &[bool], node: usize| reached.get(node).copied().unwrap_or(false);
        loop {
            let next = self.steps.iter().find_map(|step| {
                match (is(&reached, step.from), is(&reached, step.to)) {
                    (true, false) => Some(step.to),
                    (false, true) => Some(step.from),
                    _ => None,
                }
            });
            match next.and_then(|node| reached.get_mut(node)) {
                Some(node) => *node = true,
                None => return reached.iter().all(|reached| *reached),
            }
        }
    }
}

/// A bound of a range: a constant from 0.
fn bound(expr: &Expr, binder: &mut dyn BindContext) -> BindResult<u32> {
    let value = binder.constant_long(expr)?;
    u32::try_from(value).map_err(|_| {
        let message = format!(
            "the bound of a range is from 0 to {} and is {value}",
            u32::MAX
        );
        binder.error(Code::EdgeRange, message, expr.span)
    })
}
