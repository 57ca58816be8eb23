//! The components of a directed graph.

use datafusion::common::Result;

use crate::work::CancellationToken;

/// No number.
const NONE: u32 = u32::MAX;

/// The number of steps between two checks for cancellation.
const CHECK_INTERVAL: usize = 1 << 16;

/// The weak component of each of `nodes` nodes, from 0 in the order of the first nodes.
///
/// # Errors
/// The query is cancelled.
pub(super) fn weak(nodes: usize, edges: &[(u32, u32)]) -> Result<Vec<u32>> {
    let cancellation = CancellationToken::current();
    // The lowest known node of the same component; the root of a component is its own.
    let mut lower: Vec<u32> = (0..nodes as u32).collect();
    for (index, (from, to)) in edges.iter().enumerate() {
        if index.is_multiple_of(CHECK_INTERVAL) {
            cancellation.check()?;
        }
        let (a, b) = (root(&mut lower, *from), root(&mut lower, *to));
        if let Some(high) = lower.get_mut(a.max(b) as usize) {
            *high = a.min(b);
        }
    }
    let roots: Vec<u32> = (0..nodes as u32)
        .map(|node| root(&mut lower, node))
        .collect();
    Ok(numbered(&roots))
}

/// The root of a node's component. Paths are halved on the way, so that they stay short.
fn root(lower: &mut [u32], mut node: u32) -> u32 {
    loop {
        let next = lower.get(node as usize).copied().unwrap_or(node);
        if next == node {
            return node;
        }
        let after = lower.get(next as usize).copied().unwrap_or(next);
        if let Some(short) = lower.get_mut(node as usize) {
            *short = after;
        }
        node = after;
    }
}

/// Numbers the representatives of components in the order of their first nodes.
fn numbered(representatives: &[u32]) -> Vec<u32> {
    let mut numbers = vec![NONE; representatives.len()];
    let mut next = 0;
    let number = |representative: &u32| {
        let Some(number) = numbers.get_mut(*representative as usize) else {
            return NONE;
        };
        if *number == NONE {
            *number = next;
            next += 1;
        }
        *number
    };
    representatives.iter().map(number).collect()
}

/// The strong component of each of `nodes` nodes, from 0 in the order of the first nodes: Tarjan's algorithm without
/// recursion.
///
/// # Errors
/// The query is cancelled.
pub(super) fn strong(nodes: usize, edges: &[(u32, u32)]) -> Result<Vec<u32>> {
    let mut search = Strong::new(nodes, edges);
    for node in 0..nodes as u32 {
        if search.order(node) == NONE {
            search.from(node)?;
        }
    }
    Ok(numbered(&search.representatives))
}

struct Strong {
    /// The targets of each node's edges in one list, and where each node's begin.
    targets: Vec<u32>,
    starts: Vec<u32>,
    /// When the search reached a node.
    order: Vec<u32>,
    /// The earliest node on the stack that a node reaches.
    low: Vec<u32>,
    /// A node of the component of each node; none before the component is complete.
    representatives: Vec<u32>,
    /// Nodes whose component is not complete.
    open: Vec<u32>,
    reached: u32,
    steps: usize,
    cancellation: CancellationToken,
}

impl Strong {
    fn new(nodes: usize, edges: &[(u32, u32)]) -> Strong {
        let mut starts = vec![0_u32; nodes + 1];
        for (from, _) in edges {
            if let Some(count) = starts.get_mut(*from as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut places = starts.clone();
        let mut targets = vec![0; edges.len()];
        for (from, to) in edges {
            if let Some(place) = places.get_mut(*from as usize) {
                if let Some(target) = targets.get_mut(*place as usize) {
                    *target = *to;
                }
                *place += 1;
            }
        }
        Strong {
            targets,
            starts,
            order: vec![NONE; nodes],
            low: vec![NONE; nodes],
            representatives: vec![NONE; nodes],
            open: Vec::new(),
            reached: 0,
            steps: 0,
            cancellation: CancellationToken::current(),
        }
    }

    fn order(&self, node: u32) -> u32 {
        self.order.get(node as usize).copied().unwrap_or(NONE)
    }

    fn start(&self, node: usize) -> u32 {
        self.starts.get(node).copied().unwrap_or_default()
    }

    fn lower(&mut self, node: u32, to: u32) {
        if let Some(low) = self.low.get_mut(node as usize) {
            *low = (*low).min(to);
        }
    }

    fn reach(&mut self, node: u32) {
        if let Some(order) = self.order.get_mut(node as usize) {
            *order = self.reached;
        }
        self.lower(node, self.reached);
        self.reached += 1;
        self.open.push(node);
    }

    /// Finds the components of all nodes that can be reached from `root`.
    fn from(&mut self, root: u32) -> Result<()> {
        self.reach(root);
        // The nodes on the way, and the next edge of each.
        let mut way = vec![(root, self.start(root as usize))];
        while let Some((node, next)) = way.last_mut() {
            self.steps += 1;
            if self.steps.is_multiple_of(CHECK_INTERVAL) {
                self.cancellation.check()?;
            }
            let node = *node;
            if *next < self.start(node as usize + 1) {
                let target = self.targets.get(*next as usize).copied().unwrap_or(node);
                *next += 1;
                if self.order(target) == NONE {
                    self.reach(target);
                    way.push((target, self.start(target as usize)));
                } else if self.is_open(target) {
                    self.lower(node, self.order(target));
                }
                continue;
            }
            way.pop();
            let low = self.low.get(node as usize).copied().unwrap_or(NONE);
            if low == self.order(node) {
                self.close(node);
            }
            if let Some((before, _)) = way.last() {
                self.lower(*before, low);
            }
        }
        Ok(())
    }

    fn is_open(&self, node: u32) -> bool {
        self.representatives.get(node as usize) == Some(&NONE)
    }

    /// Completes the component of `root`.
    fn close(&mut self, root: u32) {
        while let Some(node) = self.open.pop() {
            if let Some(representative) = self.representatives.get_mut(node as usize) {
                *representative = root;
            }
            if node == root {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_components_ignore_the_direction() {
        let edges = [(1, 0), (2, 3), (4, 3), (5, 5)];
        let found = weak(7, &edges).expect("it is not cancelled");
        assert_eq!(found, [0, 0, 1, 1, 1, 2, 3]);
    }

    #[test]
    fn strong_components_are_cycles() {
        // 0 → 1 → 2 → 0, 2 → 3 → 4 → 3, 5 alone with itself.
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 5)];
        let found = strong(6, &edges).expect("it is not cancelled");
        assert_eq!(found, [0, 0, 0, 1, 1, 2]);
    }

    #[test]
    fn a_long_path_needs_no_deep_stack() {
        let edges: Vec<(u32, u32)> = (0..200_000).map(|node| (node, node + 1)).collect();
        let found = strong(200_001, &edges).expect("it is not cancelled");
        assert_eq!(found.last(), Some(&200_000));
        let found = weak(200_001, &edges).expect("it is not cancelled");
        assert_eq!(found.last(), Some(&0));
    }
}
