//! The union and the intersection of regions of the sphere.
//!
//! A region is bounded by rings; its points are those around which the rings wind more often counter-clockwise than clockwise.
//! The rings are divided at their common points. A part of an edge belongs to the result's boundary if the result is on one side
//! of it only.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::f64::consts::TAU;

use super::arcs::normal;
use super::arrangement::Arrangement;
use super::ring::{is_left, nested};
use super::shape::{Collection, Polygon};
use super::sphere::Point;
use crate::work::CancellationToken;

/// A ring of a region.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The points, without the first at the end.
    pub(crate) points: Vec<Point>,
    /// Whether it bounds the region from outside, counter-clockwise, or is a hole, clockwise.
    pub(crate) outer: bool,
}

impl Ring {
    /// 1, or -1 for a hole.
    pub(crate) fn sign(&self) -> f64 {
        if self.outer { 1.0 } else { -1.0 }
    }
}

/// The rings of polygons: outer rings counter-clockwise, holes clockwise.
pub(crate) fn rings(polygons: &[Polygon]) -> Vec<Ring> {
    let ring = |(index, ring): (usize, &Vec<Point>)| {
        let mut points = ring.clone();
        let outer = index == 0;
        if is_left(&points) != outer {
            points.reverse();
        }
        Ring { points, outer }
    };
    let rings = |polygon: &Polygon| polygon.iter().enumerate().map(ring).collect::<Vec<Ring>>();
    polygons.iter().flat_map(rings).collect()
}

/// The points that are in one of the regions that the rings bound; `None` if the query is cancelled.
pub(crate) fn union(rings: Vec<Ring>) -> Option<Vec<Polygon>> {
    let overlay = Overlay::of(vec![rings])?;
    let edges = overlay.boundary()?;
    overlay.polygons(&edges)
}

/// The union of shapes, each the polygons of one. Repeatedly the two with the fewest points are united, as in the S2 library: the
/// order of the result depends on it.
pub(crate) fn union_of_all(shapes: Vec<Vec<Polygon>>) -> Option<Vec<Polygon>> {
    let points = |shape: &Vec<Polygon>| shape.iter().flatten().map(Vec::len).sum();
    let mut queue: BTreeMap<(usize, usize), Vec<Polygon>> = BTreeMap::new();
    for (number, shape) in shapes.into_iter().enumerate() {
        queue.insert((points(&shape), number), shape);
    }
    let mut number = queue.len();
    loop {
        let ((size, _), first) = queue.pop_first()?;
        let Some(((other_size, _), second)) = queue.pop_first() else {
            return Some(first);
        };
        let mut both = rings(&first);
        both.extend(rings(&second));
        queue.insert((size + other_size, number), union(both)?);
        number += 1;
    }
}

/// The points that are in both regions, with the lines and points at which they touch; `None` if the query is cancelled.
pub(crate) fn intersection(first: Vec<Ring>, second: Vec<Ring>) -> Option<Collection> {
    let overlay = Overlay::of(vec![first, second])?;
    let edges = overlay.boundary()?;
    let polygons = overlay.polygons(&edges)?;
    let mut of_groups = [HashSet::new(), HashSet::new()];
    let mut at_groups = [HashSet::new(), HashSet::new()];
    for (chain, from, to) in overlay.arrangement.parts() {
        let group = overlay.rings.get(chain)?.group;
        of_groups.get_mut(group)?.insert(key(from, to));
        at_groups.get_mut(group)?.extend([from, to]);
    }
    let mut used: HashSet<usize> = edges.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let bounds: HashSet<(usize, usize)> = edges.iter().map(|(a, b)| key(*a, *b)).collect();
    let [first, second] = &of_groups;
    // In the order of the first region's rings.
    let mut seen = HashSet::new();
    let shared: Vec<(usize, usize)> = overlay
        .arrangement
        .parts()
        .map(|(_, from, to)| (from, to))
        .filter(|(from, to)| {
            let key = key(*from, *to);
            first.contains(&key)
                && second.contains(&key)
                && !bounds.contains(&key)
                && seen.insert(key)
        })
        .collect();
    used.extend(shared.iter().flat_map(|(a, b)| [*a, *b]));
    let [first, second] = &at_groups;
    let mut points: Vec<usize> = first.intersection(second).copied().collect();
    points.retain(|vertex| !used.contains(vertex));
    points.sort_unstable();
    let point = |vertex: &usize| overlay.arrangement.vertices.point(*vertex);
    let line = |line: Vec<usize>| line.iter().map(point).collect::<Option<Vec<Point>>>();
    Some(Collection {
        points: points.iter().map(point).collect::<Option<Vec<Point>>>()?,
        lines: joined(&shared)
            .into_iter()
            .map(line)
            .collect::<Option<_>>()?,
        polygons,
    })
}

/// The longest lines of edges without a branch, each from its first edge on. Equal edges count once.
pub(crate) fn joined(edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut around: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut rest: HashSet<(usize, usize)> = HashSet::new();
    for (from, to) in edges {
        if rest.insert(key(*from, *to)) {
            around.entry(*from).or_default().push(*to);
            around.entry(*to).or_default().push(*from);
        }
    }
    let mut lines = Vec::new();
    for (from, to) in edges {
        if !rest.remove(&key(*from, *to)) {
            continue;
        }
        let mut extended = |mut line: Vec<usize>| {
            while let Some(last) = line.last().copied() {
                let next = around.get(&last).filter(|next| next.len() == 2);
                let next = next.into_iter().flatten();
                let Some(next) = next.copied().find(|next| rest.remove(&key(last, *next))) else {
                    break;
                };
                line.push(next);
            }
            line
        };
        let forward = extended(vec![*from, *to]);
        let mut line = extended(vec![*from]);
        line.reverse();
        line.extend(forward.into_iter().skip(1));
        lines.push(line);
    }
    lines
}

/// The identity of an edge in either direction.
fn key(from: usize, to: usize) -> (usize, usize) {
    (from.min(to), from.max(to))
}

struct OverlayRing {
    /// The number of its region.
    group: usize,
    outer: bool,
    center: Point,
    /// The distance from the center to the farthest point.
    reach: f64,
}

struct Overlay {
    arrangement: Arrangement,
    rings: Vec<OverlayRing>,
    groups: usize,
}

impl Overlay {
    fn of(groups: Vec<Vec<Ring>>) -> Option<Overlay> {
        let count = groups.len();
        let (mut chains, mut rings) = (Vec::new(), Vec::new());
        for (group, ring) in (0..)
            .zip(groups)
            .flat_map(|(g, r)| r.into_iter().map(move |r| (g, r)))
        {
            let sum = ring.points.iter().fold(Point::ZERO, |sum, p| sum.plus(*p));
            let center = sum.unit();
            let reach = ring
                .points
                .iter()
                .map(|p| p.angle(center))
                .fold(0.0, f64::max);
            let mut chain = ring.points;
            chain.extend(chain.first().copied());
            chains.push(chain);
            rings.push(OverlayRing {
                group,
                outer: ring.outer,
                center,
                reach,
            });
        }
        Some(Overlay {
            arrangement: Arrangement::of(&chains)?,
            rings,
            groups: count,
        })
    }

    /// The directed parts of edges that have the result on their left only, in the order of the rings.
    fn boundary(&self) -> Option<Vec<(usize, usize)>> {
        let cancellation = CancellationToken::current();
        let mut seen = HashSet::new();
        let mut edges = Vec::new();
        for (_, from, to) in self.arrangement.parts() {
            if !seen.insert(key(from, to)) {
                continue;
            }
            if cancellation.is_cancelled() {
                return None;
            }
            match self.sides(from, to)? {
                (true, false) => edges.push((from, to)),
                (false, true) => edges.push((to, from)),
                _ => {}
            }
        }
        Some(edges)
    }

    /// Whether the result is on the left and on the right of a part of an edge.
    fn sides(&self, from: usize, to: usize) -> Option<(bool, bool)> {
        let vertices = &self.arrangement.vertices;
        let middle = vertices.point(from)?.plus(vertices.point(to)?).unit();
        let mut left = vec![0_i64; self.groups];
        let mut right = left.clone();
        for (ring, chain) in self.rings.iter().zip(&self.arrangement.chains) {
            let is_far = ring.reach < TAU / 4.0 && ring.center.angle(middle) > ring.reach * 1.01;
            if is_far {
                continue;
            }
            // The ring winds around the middle half as often as around its two sides together, without the part itself.
            let (mut turn, mut passes) = (0.0, 0.0);
            for (a, b) in chain.iter().zip(chain.iter().skip(1)) {
                if (*a, *b) == (from, to) {
                    passes += 1.0;
                } else if (*a, *b) == (to, from) {
                    passes -= 1.0;
                } else {
                    turn += turn_at(middle, vertices.point(*a)?, vertices.point(*b)?);
                }
            }
            // A ring also winds around the antipodes of its inside, in the other direction.
            let winding = |side: f64| {
                let winding = (turn / TAU + side * passes / 2.0).round() as i64;
                if ring.outer {
                    winding.max(0)
                } else {
                    winding.min(0)
                }
            };
            *left.get_mut(ring.group)? += winding(1.0);
            *right.get_mut(ring.group)? += winding(-1.0);
        }
        let within = |windings: &[i64]| windings.iter().all(|winding| *winding > 0);
        Some((within(&left), within(&right)))
    }

    /// The polygons that directed edges bound. As in the S2 library, a ring begins behind its last edge in the order of `boundary`,
    /// and rings stand in the order of their first edges.
    fn polygons(&self, boundary: &[(usize, usize)]) -> Option<Vec<Polygon>> {
        let mut outgoing: HashMap<usize, Vec<usize>> = HashMap::new();
        for (from, to) in boundary {
            outgoing.entry(*from).or_default().push(*to);
        }
        let order: HashMap<(usize, usize), usize> = boundary.iter().copied().zip(0..).collect();
        let mut rest: HashSet<(usize, usize)> = boundary.iter().copied().collect();
        let (mut outer, mut holes) = (Vec::new(), Vec::new());
        for start in boundary {
            if !rest.remove(start) {
                continue;
            }
            let (first, mut at) = *start;
            let (mut ring, mut before) = (vec![first], first);
            while at != first {
                ring.push(at);
                let next = outgoing.get(&at)?.iter().copied();
                let next = next.filter(|next| rest.contains(&(at, *next)));
                let next = self.leftmost(before, at, next)?;
                rest.remove(&(at, next));
                (before, at) = (at, next);
            }
            if ring.len() < 3 {
                continue;
            }
            let next = ring.iter().skip(1).chain(ring.first());
            let places = ring
                .iter()
                .zip(next)
                .map(|(a, b)| order.get(&(*a, *b)).copied());
            let places = places.collect::<Option<Vec<usize>>>()?;
            let last = (0..places.len()).max_by_key(|i| places.get(*i).copied())?;
            let start = (last + 1) % ring.len();
            ring.rotate_left(start);
            let place = places.get(start).copied();
            let point = |vertex: &usize| self.arrangement.vertices.point(*vertex);
            let ring = ring.iter().map(point).collect::<Option<Vec<Point>>>()?;
            if is_left(&ring) {
                outer.push((place, ring));
            } else {
                holes.push(ring);
            }
        }
        outer.sort_by_key(|(place, _)| *place);
        let outer = outer.into_iter().map(|(_, ring)| ring);
        Some(nested(outer, holes))
    }

    /// The vertex of the edge that continues the boundary of the face on the left: the first one clockwise from the way back.
    fn leftmost(
        &self,
        before: usize,
        at: usize,
        next: impl Iterator<Item = usize>,
    ) -> Option<usize> {
        let vertices = &self.arrangement.vertices;
        let (back, center) = (vertices.point(before)?, vertices.point(at)?);
        let angle = |vertex: &usize| {
            let point = vertices.point(*vertex).unwrap_or(center);
            let (first, second) = (normal(center, back), normal(center, point));
            let angle = center.dot(first.cross(second)).atan2(first.dot(second));
            if angle <= 0.0 { angle + TAU } else { angle }
        };
        next.max_by(|a, b| angle(a).total_cmp(&angle(b)))
    }
}

/// The angle by which the arc from `a` to `b` turns around a point, counter-clockwise.
fn turn_at(point: Point, a: Point, b: Point) -> f64 {
    let (to_a, to_b) = (normal(point, a), normal(point, b));
    to_a.cross(to_b).dot(point).atan2(to_a.dot(to_b))
}
