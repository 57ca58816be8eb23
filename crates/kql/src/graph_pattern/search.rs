//! Searches a graph for the matches of a pattern: a depth-first search that keeps its position between matches.

use std::sync::Arc;

use datafusion::common::Result;

use super::matches::{GraphSearch, Match};
use super::pattern::{Cycles, Pattern, Step};
use super::topology::{CHECK_INTERVAL, GraphInMemory, Link};
use crate::work::CancellationToken;

/// The nodes and edges that elements of the pattern may match; all where there is no list.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// For each node of the pattern, by number.
    pub(crate) nodes: Vec<Option<Vec<bool>>>,
    /// For each step, by edge.
    pub(crate) steps: Vec<Option<Vec<bool>>>,
    /// For the inner nodes of each step, by number.
    pub(crate) inner_nodes: Vec<Option<Vec<bool>>>,
}

fn accepts(lists: &[Option<Vec<bool>>], element: usize, candidate: u32) -> bool {
    match lists.get(element) {
        Some(Some(list)) => list.get(candidate as usize).copied().unwrap_or(false),
        _ => true,
    }
}

impl Candidates {
    /// Whether a node of the pattern may be this node.
    pub(crate) fn node(&self, node: usize, candidate: u32) -> bool {
        accepts(&self.nodes, node, candidate)
    }

    /// Whether a step may have this edge.
    pub(crate) fn edge(&self, step: usize, candidate: u32) -> bool {
        accepts(&self.steps, step, candidate)
    }

    /// Whether a step may have this inner node.
    pub(crate) fn inner_node(&self, step: usize, candidate: u32) -> bool {
        accepts(&self.inner_nodes, step, candidate)
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let lists = [&self.nodes, &self.steps, &self.inner_nodes];
        let lists = lists.into_iter().flatten().flatten();
        lists.map(|list| list.capacity()).sum()
    }
}

/// A step in the order of the search.
#[derive(Debug, Clone, Copy)]
struct Planned {
    number: usize,
    step: Step,
    /// The search goes from the end of the step to its beginning.
    backward: bool,
    /// The node of the pattern where the search of the step ends.
    end: usize,
}

/// A search with its position.
pub(crate) struct Search {
    graph: Arc<GraphInMemory>,
    candidates: Candidates,
    cycles: Cycles,
    order: Vec<Planned>,
    /// The node of the pattern where the search begins.
    first: usize,
    /// The next node of the graph to begin with.
    next_first: u32,
    /// The node of the graph that each node of the pattern is.
    nodes: Vec<Option<u32>>,
    frames: Vec<Frame>,
    used_nodes: Vec<bool>,
    used_edges: Vec<bool>,
    steps: usize,
    cancellation: CancellationToken,
}

/// The position in one step.
#[derive(Debug)]
struct Frame {
    planned: Planned,
    start: u32,
    /// The end, if an earlier step or the beginning of the search determined it.
    target: Option<u32>,
    path: Vec<Walked>,
    /// The position at the start and at each node of the path.
    cursors: Vec<Cursor>,
    /// The path without edges comes next.
    empty_path: bool,
}

/// An edge of a path with the node that it leads to.
#[derive(Debug, Clone, Copy)]
struct Walked {
    link: Link,
    /// The node was marked as used here.
    marks_node: bool,
}

/// The position among the edges of a node.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    node: u32,
    next: usize,
    /// The path ends here.
    ended: bool,
}

impl Search {
    /// Begins a search.
    pub(crate) fn new(
        pattern: &Pattern,
        graph: Arc<GraphInMemory>,
        candidates: Candidates,
    ) -> Search {
        let first = cheapest_node(pattern, &candidates, graph.numbers());
        let (nodes, edges) = (graph.numbers() as usize, graph.edges.num_rows());
        Search {
            order: planned(pattern, first),
            candidates,
            cycles: pattern.cycles,
            first,
            next_first: 0,
            nodes: vec![None; pattern.nodes],
            frames: Vec::with_capacity(pattern.steps.len()),
            used_nodes: vec![
                false;
                if pattern.cycles == Cycles::None {
                    nodes
                } else {
                    0
                }
            ],
            used_edges: vec![
                false;
                if pattern.cycles == Cycles::UniqueEdges {
                    edges
                } else {
                    0
                }
            ],
            graph,
            steps: 0,
            cancellation: CancellationToken::current(),
        }
    }

    /// Begins at the next node of the graph.
    fn begin(&mut self) -> Result<bool> {
        self.set(self.first, None);
        loop {
            self.count_step()?;
            let node = self.next_first;
            if node >= self.graph.numbers() {
                return Ok(false);
            }
            self.next_first += 1;
            if self.graph.row(node).is_some() && self.candidates.node(self.first, node) {
                self.set(self.first, Some(node));
                return Ok(true);
            }
        }
    }

    /// Sets the node of the graph that the first node of the pattern is.
    fn set(&mut self, node: usize, value: Option<u32>) {
        if let Some(place) = self.nodes.get_mut(node) {
            let before = std::mem::replace(place, value);
            for (node, used) in [(before, false), (value, true)] {
                let mark = node.and_then(|node| self.used_nodes.get_mut(node as usize));
                if let Some(mark) = mark {
                    *mark = used;
                }
            }
        }
    }

    fn count_step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(CHECK_INTERVAL) {
            self.cancellation.check()?;
        }
        Ok(())
    }

    /// Begins a step at the node where it starts.
    fn enter(&mut self, planned: Planned) {
        let beginning = if planned.backward {
            planned.step.to
        } else {
            planned.step.from
        };
        let Some(start) = self.node(beginning) else {
            return;
        };
        self.frames.push(Frame {
            planned,
            start,
            target: self.node(planned.end),
            path: Vec::new(),
            cursors: vec![Cursor {
                node: start,
                next: 0,
                ended: planned.step.high == 0,
            }],
            empty_path: planned.step.low == 0,
        });
    }

    /// Goes on to the next end of the innermost step; false if there is none.
    fn next_end(&mut self) -> Result<bool> {
        let Some(mut frame) = self.frames.pop() else {
            return Ok(false);
        };
        let end = self.next_end_of(&mut frame)?;
        if frame.target.is_none()
            && let Some(place) = self.nodes.get_mut(frame.planned.end)
        {
            *place = end;
        }
        self.frames.push(frame);
        Ok(end.is_some())
    }

    fn next_end_of(&mut self, frame: &mut Frame) -> Result<Option<u32>> {
        let planned = frame.planned;
        if std::mem::take(&mut frame.empty_path) && self.accepts_empty_path(frame) {
            return Ok(Some(frame.start));
        }
        loop {
            self.count_step()?;
            let Some(cursor) = frame.cursors.last_mut() else {
                return Ok(None);
            };
            let Some(link) = next_link(&self.graph, &planned, cursor) else {
                frame.cursors.pop();
                if let Some(walked) = frame.path.pop() {
                    self.mark(walked, false);
                }
                continue;
            };
            if !self.candidates.edge(planned.number, link.edge) || self.is_used_edge(link.edge) {
                continue;
            }
            // A number of edges has at most 32 bits.
            let length = frame.path.len() as u32 + 1;
            let used = self.is_used_node(link.node);
            let ends = length >= planned.step.low && self.accepts_end(frame, link.node, used);
            let goes_on = length < planned.step.high
                && !used
                && self.candidates.inner_node(planned.number, link.node);
            if !ends && !goes_on {
                continue;
            }
            let walked = Walked {
                link,
                marks_node: self.cycles == Cycles::None && !used,
            };
            self.mark(walked, true);
            frame.path.push(walked);
            frame.cursors.push(Cursor {
                node: link.node,
                next: 0,
                ended: !goes_on,
            });
            if ends {
                return Ok(Some(link.node));
            }
        }
    }

    /// Whether the start of a step may be its end. Different variables are different nodes if no node repeats.
    fn accepts_empty_path(&self, frame: &Frame) -> bool {
        match frame.target {
            Some(target) => {
                let one_variable = frame.planned.step.from == frame.planned.step.to;
                target == frame.start && (one_variable || self.cycles != Cycles::None)
            }
            None => {
                self.cycles != Cycles::None && self.candidates.node(frame.planned.end, frame.start)
            }
        }
    }

    fn accepts_end(&self, frame: &Frame, node: u32, used: bool) -> bool {
        match frame.target {
            // If no node repeats, a path does not return to its start.
            Some(target) => target == node && !(self.cycles == Cycles::None && frame.start == node),
            None => !used && self.candidates.node(frame.planned.end, node),
        }
    }

    fn is_used_edge(&self, edge: u32) -> bool {
        self.used_edges.get(edge as usize).copied().unwrap_or(false)
    }

    fn is_used_node(&self, node: u32) -> bool {
        self.used_nodes.get(node as usize).copied().unwrap_or(false)
    }

    fn mark(&mut self, walked: Walked, used: bool) {
        if let Some(mark) = self.used_edges.get_mut(walked.link.edge as usize) {
            *mark = used;
        }
        let node = self.used_nodes.get_mut(walked.link.node as usize);
        if let Some(mark) = node.filter(|_| walked.marks_node) {
            *mark = used;
        }
    }
}

impl GraphSearch for Search {
    fn graph(&self) -> &Arc<GraphInMemory> {
        &self.graph
    }

    fn advance(&mut self) -> Result<bool> {
        loop {
            if self.frames.is_empty() {
                if !self.begin()? {
                    return Ok(false);
                }
            } else if !self.next_end()? {
                self.frames.pop();
                continue;
            }
            match self.order.get(self.frames.len()).copied() {
                None => return Ok(true),
                Some(planned) => self.enter(planned),
            }
        }
    }

    fn bytes(&self) -> usize {
        let path = |frame: &Frame| {
            frame.path.capacity() * size_of::<Walked>()
                + frame.cursors.capacity() * size_of::<Cursor>()
        };
        self.candidates.bytes()
            + self.used_nodes.capacity()
            + self.used_edges.capacity()
            + self.frames.iter().map(path).sum::<usize>()
    }
}

impl Match for Search {
    fn node(&self, node: usize) -> Option<u32> {
        self.nodes.get(node).copied().flatten()
    }

    fn path(&self, step: usize) -> impl Iterator<Item = (u32, u32)> {
        let frame = self.frames.iter().find(|f| f.planned.number == step);
        let walked = frame.map_or(&[][..], |frame| frame.path.as_slice());
        let start = frame.map_or(0, |frame| frame.start);
        let backward = frame.is_some_and(|frame| frame.planned.backward);
        let count = walked.len();
        (0..count).map(move |index| {
            let place = if backward { count - 1 - index } else { index };
            let edge = walked.get(place).map_or(0, |w| w.link.edge);
            // Backward an edge leads to the node that was walked before it.
            let node = match (backward, place.checked_sub(1)) {
                (false, _) => walked.get(place).map_or(0, |w| w.link.node),
                (true, None) => start,
                (true, Some(before)) => walked.get(before).map_or(0, |w| w.link.node),
            };
            (edge, node)
        })
    }
}

/// The next edge at a position.
fn next_link(graph: &GraphInMemory, planned: &Planned, cursor: &mut Cursor) -> Option<Link> {
    if cursor.ended {
        return None;
    }
    let [along, against] = planned.step.ways();
    let ways = if planned.backward {
        [against, along]
    } else {
        [along, against]
    };
    let link = graph.link(cursor.node, ways, cursor.next);
    cursor.next += 1;
    link
}

/// The node of the pattern with the fewest candidates.
fn cheapest_node(pattern: &Pattern, candidates: &Candidates, all: u32) -> usize {
    let count = |node: &usize| match candidates.nodes.get(*node) {
        Some(Some(list)) => list.iter().filter(|candidate| **candidate).count(),
        _ => all as usize,
    };
    (0..pattern.nodes).min_by_key(count).unwrap_or(0)
}

/// The order of the steps: each begins at a node that is known. Steps between known nodes come first, then single edges,
/// then the shortest paths.
fn planned(pattern: &Pattern, first: usize) -> Vec<Planned> {
    let mut known = vec![false; pattern.nodes];
    let mut open: Vec<(usize, Step)> = pattern.steps.iter().copied().enumerate().collect();
    let mut order = Vec::with_capacity(open.len());
    if let Some(first) = known.get_mut(first) {
        *first = true;
    }
    while !open.is_empty() {
        let is_known = |node: usize| known.get(node).copied().unwrap_or(false);
        let cost = |(_, (_, step)): &(usize, &(usize, Step))| match (
            is_known(step.from),
            is_known(step.to),
        ) {
            (false, false) => (2, step.high),
            (true, true) => (0, step.high),
            _ => (1, step.high),
        };
        let Some((place, _)) = open.iter().enumerate().min_by_key(cost) else {
            break;
        };
        let backward = open
            .get(place)
            .is_some_and(|(_, step)| !is_known(step.from));
        let (number, step) = open.remove(place);
        let end = if backward { step.from } else { step.to };
        for node in [step.from, step.to] {
            if let Some(known) = known.get_mut(node) {
                *known = true;
            }
        }
        order.push(Planned {
            number,
            step,
            backward,
            end,
        });
    }
    order
}
