//! A breadth-first search for shortest paths, which keeps its position between paths.

use std::sync::Arc;

use datafusion::common::Result;

use crate::graph_pattern::matches::{GraphSearch, Match};
use crate::graph_pattern::pattern::Step;
use crate::graph_pattern::search::Candidates;
use crate::graph_pattern::topology::{CHECK_INTERVAL, GraphInMemory, Link};
use crate::work::CancellationToken;

/// Not reached.
const NONE: u32 = u32::MAX;

/// A search for the shortest paths of a step.
pub(super) struct BreadthFirst {
    graph: Arc<GraphInMemory>,
    candidates: Candidates,
    step: Step,
    all: bool,
    /// The search begins at the last node of the step.
    backward: bool,
    /// The number of nodes where a path may end.
    ends: usize,
    /// The node where the search began, and the next one.
    root: u32,
    next_root: u32,
    /// The distance of each node from the root.
    distances: Vec<u32>,
    /// The nodes that were reached, in the order of their distance.
    reached: Vec<u32>,
    /// The next of these to end a path.
    next_end: usize,
    /// The path from its end back to the root: a link at each node, with the next one to try.
    trail: Vec<Trail>,
    path: Vec<(u32, u32)>,
    steps: usize,
    cancellation: CancellationToken,
}

/// A position on the way from the end of a path to the root.
#[derive(Debug, Clone, Copy)]
struct Trail {
    node: u32,
    next: usize,
    link: Link,
}

impl BreadthFirst {
    /// Begins a search at the side of the step that has fewer candidates.
    pub(super) fn new(
        graph: Arc<GraphInMemory>,
        candidates: Candidates,
        step: Step,
        all: bool,
    ) -> BreadthFirst {
        let count = |node: usize| {
            let mut nodes = 0..graph.numbers();
            let is =
                |candidate: u32| graph.row(candidate).is_some() && candidates.node(node, candidate);
            let mut count = 0;
            nodes
                .by_ref()
                .for_each(|candidate| count += usize::from(is(candidate)));
            count
        };
        let (first, last) = (count(step.from), count(step.to));
        let backward = last < first;
        BreadthFirst {
            distances: vec![NONE; graph.numbers() as usize],
            graph,
            candidates,
            step,
            all,
            backward,
            ends: if backward { first } else { last },
            root: 0,
            next_root: 0,
            reached: Vec::new(),
            next_end: 0,
            trail: Vec::new(),
            path: Vec::new(),
            steps: 0,
            cancellation: CancellationToken::current(),
        }
    }

    fn count_step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(CHECK_INTERVAL) {
            self.cancellation.check()?;
        }
        Ok(())
    }

    /// The nodes of the pattern where the search begins and where it ends.
    fn sides(&self) -> (usize, usize) {
        if self.backward {
            (self.step.to, self.step.from)
        } else {
            (self.step.from, self.step.to)
        }
    }

    fn distance(&self, node: u32) -> u32 {
        self.distances.get(node as usize).copied().unwrap_or(NONE)
    }

    /// The link with this position at a node, away from the root or back to it.
    fn link(&self, node: u32, position: usize, back: bool) -> Option<Link> {
        let [along, against] = self.step.ways();
        let ways = if self.backward == back {
            [along, against]
        } else {
            [against, along]
        };
        self.graph.link(node, ways, position)
    }

    /// Whether a path may pass through a node, or begin there.
    fn goes_on(&self, node: u32) -> bool {
        node == self.root || self.candidates.inner_node(0, node)
    }

    /// Computes the distances from the next root; false if there is none.
    fn begin_at_next_root(&mut self) -> Result<bool> {
        for node in std::mem::take(&mut self.reached) {
            if let Some(distance) = self.distances.get_mut(node as usize) {
                *distance = NONE;
            }
        }
        self.next_end = 0;
        let (begin, end) = self.sides();
        loop {
            self.count_step()?;
            let node = self.next_root;
            if node >= self.graph.numbers() {
                return Ok(false);
            }
            self.next_root += 1;
            if self.graph.row(node).is_some() && self.candidates.node(begin, node) {
                self.root = node;
                break;
            }
        }
        let mut missing = self.ends;
        self.reach(self.root, 0);
        missing -= usize::from(self.candidates.node(end, self.root)).min(missing);
        let mut next = 0;
        while let Some(node) = self.reached.get(next).copied() {
            next += 1;
            let distance = self.distance(node);
            if missing == 0 || distance >= self.step.high {
                break;
            }
            if !self.goes_on(node) {
                continue;
            }
            let mut position = 0;
            while let Some(link) = self.link(node, position, false) {
                position += 1;
                self.count_step()?;
                if self.candidates.edge(0, link.edge) && self.distance(link.node) == NONE {
                    self.reach(link.node, distance + 1);
                    missing -= usize::from(self.candidates.node(end, link.node)).min(missing);
                }
            }
        }
        Ok(true)
    }

    fn reach(&mut self, node: u32, distance: u32) {
        if let Some(place) = self.distances.get_mut(node as usize) {
            *place = distance;
        }
        self.reached.push(node);
    }

    /// Begins the paths that end at a node. Some if the path without edges is the only one.
    fn begin_at_end(&mut self, end: u32) -> Option<bool> {
        let (_, last) = self.sides();
        if self.distance(end) < self.step.low || !self.candidates.node(last, end) {
            return None;
        }
        if end == self.root {
            self.path.clear();
            return Some(true);
        }
        self.trail.push(Trail {
            node: end,
            next: 0,
            link: Link::default(),
        });
        None
    }

    /// Goes on to the next complete trail; false, with an empty trail, if there is none.
    fn next_trail(&mut self) -> Result<bool> {
        loop {
            self.count_step()?;
            let Some(last) = self.trail.last().copied() else {
                return Ok(false);
            };
            let Some(link) = self.link(last.node, last.next, true) else {
                self.trail.pop();
                continue;
            };
            let nearer = self.distance(last.node).checked_sub(1);
            let is_on_way = Some(self.distance(link.node)) == nearer
                && self.goes_on(link.node)
                && self.candidates.edge(0, link.edge);
            if let Some(last) = self.trail.last_mut() {
                last.next += 1;
                last.link = link;
            }
            if is_on_way && link.node == self.root {
                return Ok(true);
            }
            if is_on_way {
                self.trail.push(Trail {
                    node: link.node,
                    next: 0,
                    link: Link::default(),
                });
            }
        }
    }

    /// Writes the path of the trail in the direction of the step: each edge with the node that it leads to.
    fn note_path(&mut self) {
        let walked = self.trail.iter();
        self.path.clear();
        if self.backward {
            self.path.extend(walked.map(|t| (t.link.edge, t.link.node)));
        } else {
            self.path
                .extend(walked.rev().map(|t| (t.link.edge, t.node)));
        }
    }
}

impl GraphSearch for BreadthFirst {
    fn graph(&self) -> &Arc<GraphInMemory> {
        &self.graph
    }

    fn advance(&mut self) -> Result<bool> {
        loop {
            if !self.trail.is_empty() {
                if self.next_trail()? {
                    self.note_path();
                    if !self.all {
                        self.trail.clear();
                    }
                    return Ok(true);
                }
                continue;
            }
            match self.reached.get(self.next_end).copied() {
                Some(end) => {
                    self.next_end += 1;
                    if let Some(found) = self.begin_at_end(end) {
                        return Ok(found);
                    }
                }
                None => {
                    if !self.begin_at_next_root()? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        self.candidates.bytes() + (self.distances.capacity() + self.reached.capacity()) * 4
    }
}

impl Match for BreadthFirst {
    fn node(&self, node: usize) -> Option<u32> {
        let end = self.reached.get(self.next_end.checked_sub(1)?).copied();
        let (begin, _) = self.sides();
        if node == begin { Some(self.root) } else { end }
    }

    fn path(&self, _: usize) -> impl Iterator<Item = (u32, u32)> {
        self.path.iter().copied()
    }
}
