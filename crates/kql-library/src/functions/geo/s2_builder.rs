//! The simplification of lines and polygons by the builder of the S2 library (`docs/semantics.md §27`).
//!
//! The builder snaps vertices to sites that are at least the tolerance apart, and replaces chains of edges by single edges that stay
//! within the tolerance. Sites are chosen among the vertices.

use std::any::Any;

use s2rst::r3::Vector;
use s2rst::s1::Angle;
use s2rst::s2;
use s2rst::s2::builder::graph::{
    DegenerateEdges, DuplicateEdges, EdgeType, Graph, GraphOptions, LoopType, SiblingPairs,
};
use s2rst::s2::builder::layer::Layer;
use s2rst::s2::builder::polyline_layer::S2PolylineLayer;
use s2rst::s2::builder::snap::{IdentitySnapFunction, MAX_SNAP_RADIUS};
use s2rst::s2::builder::{Options, S2Builder, S2Error};

use super::overlay::rings;
use super::ring::{is_left, nested};
use super::shape::Polygon;
use super::sphere::{Point, RADIUS};

/// A distance within which the builder may move edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tolerance(Angle);

impl Tolerance {
    /// The tolerance of a number of metres; `None` below 0 and above the builder's maximum, 70 degrees or about 7,784 km.
    pub(super) fn of_metres(metres: f64) -> Option<Tolerance> {
        let angle = Angle::from_radians(metres / RADIUS);
        (metres >= 0.0 && angle <= MAX_SNAP_RADIUS).then_some(Tolerance(angle))
    }

    /// Whether nothing is simplified.
    fn is_zero(self) -> bool {
        self.0.radians() == 0.0
    }

    fn builder(self) -> S2Builder {
        let mut options = Options::new(Box::new(IdentitySnapFunction::new(self.0)));
        options.simplify_edge_chains = true;
        // The C++ library implies it: simplification is never idempotent.
        options.idempotent = false;
        S2Builder::new(options)
    }
}

/// The simplified lines. A line that disappears is left out. `None` if the builder fails.
pub(super) fn simplified_lines(
    lines: Vec<Vec<Point>>,
    tolerance: Tolerance,
) -> Option<Vec<Vec<Point>>> {
    if tolerance.is_zero() {
        return Some(lines);
    }
    let mut builder = tolerance.builder();
    for line in &lines {
        builder.start_layer(Box::new(S2PolylineLayer::new()));
        builder.add_polyline_from_points(&to_s2(line));
    }
    let line = |layer: Box<dyn Layer>| {
        let mut layer = layer.into_any().downcast::<S2PolylineLayer>().ok()?;
        let line = layer.take_output()?;
        Some(line.vertices_vec().iter().map(of_s2).collect())
    };
    let lines = builder.build().ok()?.into_iter().map(line);
    let mut lines = lines.collect::<Option<Vec<Vec<Point>>>>()?;
    lines.retain(|line| !line.is_empty());
    Some(lines)
}

/// The simplified shapes, each of which is made of polygons that do not overlap. Shapes keep the borders that they have in common. A
/// polygon that disappears is left out. `None` if the builder fails.
pub(super) fn simplified_shapes(
    shapes: &[Vec<Polygon>],
    tolerance: Tolerance,
) -> Option<Vec<Vec<Polygon>>> {
    let mut builder = tolerance.builder();
    for shape in shapes {
        builder.start_layer(Box::new(Rings::default()));
        // A shape is at most half of the sphere. What disappears was not the whole sphere.
        builder.add_is_full_polygon_predicate(S2Builder::is_full_polygon(false));
        for ring in rings(shape) {
            builder.add_loop_from_points(&to_s2(&ring.points));
        }
    }
    let shape = |layer: Box<dyn Layer>| {
        let Rings(rings) = *layer.into_any().downcast::<Rings>().ok()?;
        let (outer, holes): (Vec<_>, Vec<_>) = rings.into_iter().partition(|ring| is_left(ring));
        Some(nested(outer, holes))
    };
    builder.build().ok()?.into_iter().map(shape).collect()
}

/// Whether the rings of a polygon neither cross nor share edges, and its holes lie within its outer ring.
pub(super) fn is_valid(polygon: &Polygon) -> bool {
    let s2_loop = |ring: &Vec<Point>| {
        let mut s2_loop = s2::Loop::new(to_s2(ring));
        s2_loop.normalize();
        s2_loop
    };
    let polygon = s2::Polygon::from_loops(polygon.iter().map(s2_loop).collect());
    let depths = polygon.loops().iter().map(|s2_loop| s2_loop.depth());
    polygon.find_validation_error().is_none()
        && depths.eq((0..polygon.num_loops()).map(|i| i32::from(i > 0)))
}

/// A layer of the builder that keeps the rings of a polygon: outer rings counter-clockwise, holes clockwise.
#[derive(Debug, Default)]
struct Rings(Vec<Vec<Point>>);

impl Layer for Rings {
    fn graph_options(&self) -> GraphOptions {
        GraphOptions::new(
            EdgeType::Directed,
            DegenerateEdges::Discard,
            DuplicateEdges::Keep,
            SiblingPairs::Discard,
        )
    }

    fn build(&mut self, graph: &Graph, error: &mut S2Error) {
        for ring in graph.get_directed_loops(LoopType::Simple, error) {
            let start = |edge| of_s2(&graph.vertex(graph.edge(edge).0));
            self.0.push(ring.into_iter().map(start).collect());
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn to_s2(points: &[Point]) -> Vec<s2::Point> {
    let point = |&Point { x, y, z }: &Point| s2::Point(Vector { x, y, z });
    points.iter().map(point).collect()
}

fn of_s2(point: &s2::Point) -> Point {
    let Vector { x, y, z } = point.0;
    Point { x, y, z }
}
