//! `geo_polygon_to_s2cells`, `geo_line_to_s2cells` and `geo_polygon_to_h3cells`: the cells of a grid over a shape
//! (`docs/semantics.md §27`).

use std::collections::HashSet;

use h3o::{CellIndex, LatLng, Resolution};

use super::arcs::common_points;
use super::grid::level;
use super::metres::metres;
use super::polygons::contains;
use super::s2cell::S2Cell;
use super::shape::{Polygon, lines, polygons};
use super::sphere::{Point, RADIUS};
use super::{lines as line, ring};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;
use crate::work::CancellationToken;

pub(crate) static POLYGON: ScalarFunction = function(
    &["geo_polygon_to_s2cells(polygon: dynamic, [level: number], [radius: number]) -> dynamic"],
    "The tokens of the S2 cells of a level, by default 11, that a polygon intersects or that are within a radius of it in metres; null for more than 65,536 cells or if an argument is not valid.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_polygon_to_s2cells(dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [0, 50], [100, 50], [0, 0]]]}), 5))",
        "n:long\n286",
    )],
    |args| {
        s2_cells(args, |shape| {
            let polygons = polygons(shape)?;
            let rings = polygons.iter().flatten();
            let edges = rings.flat_map(|points| ring::edges(points)).collect();
            Some((polygons, edges))
        })
    },
);

pub(crate) static LINE: ScalarFunction = function(
    &["geo_line_to_s2cells(line: dynamic, [level: number], [radius: number]) -> dynamic"],
    "The tokens of the S2 cells of a level, by default 11, that a line intersects or that are within a radius of it in metres; null for more than 65,536 cells or if an argument is not valid.",
    ResultName::None,
    &[example(
        "print c = geo_line_to_s2cells(dynamic({'type': 'LineString', 'coordinates': [[1, 1], [2, 2]]}), 0)",
        "c:dynamic\n[\"1\"]",
    )],
    |args| {
        s2_cells(args, |shape| {
            let edges = line::edges(&lines(shape)?).collect();
            Some((Vec::new(), edges))
        })
    },
);

pub(crate) static H3: ScalarFunction = function(
    &[
        "geo_polygon_to_h3cells(polygon: dynamic, [resolution: number], [radius: number]) -> dynamic",
    ],
    "The H3 cells of a resolution, by default 6, whose center is in a polygon or within a radius of it in metres; null for more than 65,536 cells or if an argument is not valid.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_polygon_to_h3cells(dynamic({'type': 'Polygon', 'coordinates': [[[-3.659, 40.553], [-3.913, 40.409], [-3.729, 40.273], [-3.524, 40.44], [-3.659, 40.553]]]})))",
        "n:long\n13",
    )],
    |args| {
        let resolution = level(args, 1)?;
        let radius = metres(args, 2, 0.0)?;
        each(args, |row, encoder| {
            let number = row.number();
            let resolution = resolution(number).unwrap_or(Some(DEFAULT_RESOLUTION))?;
            let resolution = Resolution::try_from(u8::try_from(resolution).ok()?).ok()?;
            let radius = radius(number).filter(|r| *r >= 0.0)? / RADIUS;
            let cells = h3_cells(&polygons(row.dynamic(0))?, resolution, radius)?;
            encoder.begin_array();
            for cell in cells {
                encoder.string(&cell.to_string());
            }
            encoder.end();
            Some(())
        })
    },
);

/// The level of a call without one.
const DEFAULT_LEVEL: i64 = 11;

/// The H3 resolution of a call without one.
const DEFAULT_RESOLUTION: i64 = 6;

/// The most cells of a shape.
const MAX_CELLS: usize = 65_536;

/// An arc.
type Edge = (Point, Point);

fn s2_cells(
    args: &KernelArgs<'_>,
    shape: impl Fn(hindsight_kql_types::DynamicRef<'_>) -> Option<(Vec<Polygon>, Vec<Edge>)>,
) -> KernelResult {
    let level = level(args, 1)?;
    let radius = metres(args, 2, 0.0)?;
    each(args, |row, encoder| {
        let number = row.number();
        let level = level(number).unwrap_or(Some(DEFAULT_LEVEL))?;
        let level = u32::try_from(level).ok().filter(|level| *level <= 30)?;
        let radius = radius(number).filter(|r| *r >= 0.0)? / RADIUS;
        let (polygons, edges) = shape(row.dynamic(0))?;
        let mut covering = Covering {
            polygons: &polygons,
            level,
            radius,
            cancellation: CancellationToken::current(),
            cells: Vec::new(),
        };
        for face in S2Cell::faces() {
            covering.add(face, &edges)?;
        }
        encoder.begin_array();
        for cell in &covering.cells {
            encoder.string(&cell.token());
        }
        encoder.end();
        Some(())
    })
}

struct Covering<'a> {
    polygons: &'a [Polygon],
    level: u32,
    /// In radians.
    radius: f64,
    cancellation: CancellationToken,
    cells: Vec<S2Cell>,
}

impl Covering<'_> {
    /// Adds the parts of a cell; `edges` are those of the shape near the cell. `None` for too many cells, or if the query is
    /// cancelled.
    fn add(&mut self, cell: S2Cell, edges: &[Edge]) -> Option<()> {
        if self.cancellation.is_cancelled() {
            return None;
        }
        let center = cell.center();
        let corners = cell.corners();
        let reach = corners.iter().map(|c| center.angle(*c)).fold(0.0, f64::max) + self.radius;
        let near: Vec<Edge> = edges
            .iter()
            .filter(|(a, b)| center.angle_to_arc(*a, *b) <= reach)
            .copied()
            .collect();
        let is_inside = |point| self.polygons.iter().any(|p| contains(p, point));
        let is_hit = if near.is_empty() {
            is_inside(center)
        } else {
            self.touches(&corners, &near) || is_inside(center)
        };
        if !is_hit {
            return Some(());
        }
        if cell.level() == self.level {
            self.cells.push(cell);
            return (self.cells.len() <= MAX_CELLS).then_some(());
        }
        for child in cell.children() {
            self.add(child, &near)?;
        }
        Some(())
    }

    /// Whether an edge is in a cell or within the radius of it.
    fn touches(&self, corners: &[Point; 4], edges: &[Edge]) -> bool {
        let sides: Vec<Edge> = ring::edges(corners).collect();
        let holds = |point: Point| sides.iter().all(|(a, b)| a.cross(*b).dot(point) >= 0.0);
        let close = |a: Point, b: Point| {
            self.radius > 0.0
                && sides.iter().any(|(c, d)| {
                    let ends = a.angle_to_arc(*c, *d).min(b.angle_to_arc(*c, *d));
                    let sides = c.angle_to_arc(a, b).min(d.angle_to_arc(a, b));
                    ends.min(sides) <= self.radius
                })
        };
        edges.iter().any(|(a, b)| {
            holds(*a)
                || holds(*b)
                || sides
                    .iter()
                    .any(|(c, d)| !common_points(*a, *b, *c, *d).is_empty())
                || close(*a, *b)
        })
    }
}

/// The cells are found from the outline inward. They are sorted.
fn h3_cells(polygons: &[Polygon], resolution: Resolution, radius: f64) -> Option<Vec<CellIndex>> {
    /// The mean length of an edge of resolution 0 in metres; each resolution divides it by the root of 7.
    const EDGE: f64 = 1_281_256.0;
    /// The mean area of a cell of resolution 0 on the unit sphere; each resolution divides it by 7.
    const AREA: f64 = 4.0 * std::f64::consts::PI / 122.0;
    let divisor = 7_f64.powf(f64::from(u8::from(resolution)));
    let area = |polygon: &Polygon| polygon.first().map_or(0.0, |points| ring::area(points));
    let holes = polygons.iter().flat_map(|polygon| polygon.iter().skip(1));
    let covered = polygons.iter().map(area).fold(0.0, f64::max)
        - holes.map(|points| ring::area(points)).sum::<f64>();
    // Cells vary in size by less than a factor of 4.
    if covered / AREA * divisor > 4.0 * MAX_CELLS as f64 {
        return None;
    }
    let cancellation = CancellationToken::current();
    let step = EDGE / RADIUS / 2.0 / divisor.sqrt();
    let edges = || {
        polygons
            .iter()
            .flatten()
            .flat_map(|points| ring::edges(points))
    };
    let cell_of = |point: Point| {
        let (longitude, latitude) = point.degrees();
        Some(LatLng::new(latitude, longitude).ok()?.to_cell(resolution))
    };
    let mut seen: HashSet<CellIndex> = HashSet::new();
    let mut rest: Vec<CellIndex> = Vec::new();
    for (a, b) in edges() {
        let parts = (a.angle(b) / step).ceil().max(1.0) as usize;
        if parts > MAX_CELLS * 8 || seen.len() > MAX_CELLS * 8 || cancellation.is_cancelled() {
            return None;
        }
        for part in 0..=parts {
            let cell = cell_of(a.between(b, part as f64 / parts as f64))?;
            for cell in cell.grid_disk_safe(1) {
                if seen.insert(cell) {
                    rest.push(cell);
                }
            }
        }
    }
    let mut cells: Vec<CellIndex> = Vec::new();
    while let Some(cell) = rest.pop() {
        if cancellation.is_cancelled() || cells.len() > MAX_CELLS {
            return None;
        }
        let center = LatLng::from(cell);
        let center = Point::at(center.lng(), center.lat())?;
        let is_inside = polygons.iter().any(|p| contains(p, center))
            || radius > 0.0 && edges().any(|(a, b)| center.angle_to_arc(a, b) <= radius);
        if is_inside {
            cells.push(cell);
            rest.extend(cell.grid_disk_safe(1).filter(|cell| seen.insert(*cell)));
        }
    }
    cells.sort_unstable();
    (cells.len() <= MAX_CELLS).then_some(cells)
}
