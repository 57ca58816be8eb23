//! Chains of arcs, divided at the points that they have in common.

use std::collections::HashMap;

use super::arcs::{EPSILON, common_points};
use super::sphere::Point;
use crate::work::CancellationToken;

/// The vertices of an arrangement; points closer than [`EPSILON`] are one vertex.
#[derive(Debug, Default)]
pub(crate) struct Vertices {
    points: Vec<Point>,
    cells: HashMap<(i64, i64, i64), Vec<usize>>,
}

impl Vertices {
    /// The point of a vertex.
    pub(crate) fn point(&self, vertex: usize) -> Option<Point> {
        self.points.get(vertex).copied()
    }

    fn add(&mut self, point: Point) -> usize {
        // The cells are wider than the distance of equal points, so these are in the same or in neighboring cells.
        let cell = |x: f64| (x / (4.0 * EPSILON)).floor() as i64;
        let (x, y, z) = (cell(point.x), cell(point.y), cell(point.z));
        for near in (0..27).map(|n| (x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1)) {
            for vertex in self.cells.get(&near).into_iter().flatten() {
                let other = self.point(*vertex);
                if other.is_some_and(|other| other.angle(point) <= 2.0 * EPSILON) {
                    return *vertex;
                }
            }
        }
        self.points.push(point);
        let vertex = self.points.len() - 1;
        self.cells.entry((x, y, z)).or_default().push(vertex);
        vertex
    }
}

/// Divided chains.
#[derive(Debug)]
pub(crate) struct Arrangement {
    /// The vertices.
    pub(crate) vertices: Vertices,
    /// The chains, each as its vertices in order. A closed chain repeats its first vertex at the end.
    pub(crate) chains: Vec<Vec<usize>>,
}

struct Edge {
    from: Point,
    to: Point,
    middle: Point,
    /// The distance from the middle to the ends.
    reach: f64,
    /// The points at which it is divided.
    cuts: Vec<Point>,
}

impl Arrangement {
    /// Divides chains at their common points; `None` if the query is cancelled.
    pub(crate) fn of(chains: &[Vec<Point>]) -> Option<Arrangement> {
        let cancellation = CancellationToken::current();
        let mut edges: Vec<Vec<Edge>> = chains.iter().map(|chain| edges_of(chain)).collect();
        let all: Vec<(usize, usize)> = (0..)
            .zip(&edges)
            .flat_map(|(chain, edges)| (0..edges.len()).map(move |edge| (chain, edge)))
            .collect();
        for (index, (chain, edge)) in all.iter().enumerate() {
            if cancellation.is_cancelled() {
                return None;
            }
            for (other_chain, other_edge) in all.iter().skip(index + 1) {
                let first = edges.get(*chain)?.get(*edge)?;
                let second = edges.get(*other_chain)?.get(*other_edge)?;
                let apart = first.middle.plus(second.middle.times(-1.0)).length();
                if apart > first.reach + second.reach + EPSILON {
                    continue;
                }
                let points = common_points(first.from, first.to, second.from, second.to);
                edges.get_mut(*chain)?.get_mut(*edge)?.cuts.extend(&points);
                edges
                    .get_mut(*other_chain)?
                    .get_mut(*other_edge)?
                    .cuts
                    .extend(points);
            }
        }
        let mut vertices = Vertices::default();
        // The given points come first, so that a vertex is at a given point where there is one.
        for edge in edges.iter().flatten() {
            vertices.add(edge.from);
            vertices.add(edge.to);
        }
        let chains = edges.into_iter().map(|edges| divided(edges, &mut vertices));
        Some(Arrangement {
            chains: chains.collect(),
            vertices,
        })
    }

    /// The parts of edges, as pairs of vertices with the number of their chain.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        self.chains
            .iter()
            .enumerate()
            .flat_map(|(chain, vertices)| {
                let next = vertices.iter().skip(1);
                vertices
                    .iter()
                    .zip(next)
                    .map(move |(from, to)| (chain, *from, *to))
            })
    }
}

fn edges_of(chain: &[Point]) -> Vec<Edge> {
    let next = chain.iter().skip(1);
    chain
        .iter()
        .zip(next)
        .map(|(from, to)| {
            let middle = from.plus(*to).unit();
            Edge {
                from: *from,
                to: *to,
                middle,
                reach: middle.plus(from.times(-1.0)).length(),
                cuts: Vec::new(),
            }
        })
        .collect()
}

fn divided(edges: Vec<Edge>, vertices: &mut Vertices) -> Vec<usize> {
    let mut chain: Vec<usize> = Vec::new();
    for mut edge in edges {
        let from = edge.from;
        edge.cuts.push(edge.from);
        edge.cuts.push(edge.to);
        edge.cuts
            .sort_by(|a, b| from.angle(*a).total_cmp(&from.angle(*b)));
        for point in edge.cuts {
            let vertex = vertices.add(point);
            if chain.last() != Some(&vertex) {
                chain.push(vertex);
            }
        }
    }
    chain
}
