//! `geo_line_simplify`, `geo_polygon_simplify` and `geo_simplify_polygons_array` (`docs/semantics.md §27`).

use hindsight_kql_types::{DynamicRef, Encoder};

use super::metres::metres;
use super::overlay::union_of_all;
use super::s2_builder::{Tolerance, is_valid, simplified_lines, simplified_shapes};
use super::shape::{Collection, Polygon, lines, polygons};
use super::sphere::Point;
use super::unions::{elements, union_of_lines};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static LINE: ScalarFunction = function(
    &["geo_line_simplify(line: dynamic, [tolerance: number]) -> dynamic"],
    "The line with chains of nearly straight edges replaced by single edges within a tolerance in metres, by default 10; null if it disappears.",
    ResultName::None,
    &[example(
        "print l = geo_line_simplify(dynamic({'type': 'LineString', 'coordinates': [[0, 0], [0, 0.5], [0, 1]]}))",
        "l:dynamic\n{\"type\":\"LineString\",\"coordinates\":[[0.0,0.0],[0.0,1.0]]}",
    )],
    |args| {
        let tolerance = tolerances(args)?;
        let call = Call {
            name: "geo_line_simplify",
            args,
        };
        each(args, |row, encoder| {
            let tolerance = tolerance(row.number())?;
            let mut lines = lines(row.dynamic(0))?;
            let is_union = lines.len() > 1;
            if is_union {
                lines = union_of_lines(&lines)?;
            }
            call.allows(lines.iter().map(Vec::len).sum())?;
            let lines = simplified_lines(lines, tolerance)?;
            if is_union && !lines.is_empty() && union_of_lines(&lines)? != lines {
                return call.refuse("lines that meet when they are simplified are not supported");
            }
            write(
                Collection {
                    lines,
                    ..Collection::default()
                },
                encoder,
            )
        })
    },
);

pub(crate) static POLYGON: ScalarFunction = function(
    &["geo_polygon_simplify(polygon: dynamic, [tolerance: number]) -> dynamic"],
    "The polygon with chains of nearly straight edges replaced by single edges within a tolerance in metres, by default 10; null if it disappears.",
    ResultName::None,
    &[example(
        "print p = array_length(geo_polygon_simplify(dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0.5], [0, 0]]]})).coordinates[0])",
        "p:long\n5",
    )],
    |args| {
        let tolerance = tolerances(args)?;
        let call = Call {
            name: "geo_polygon_simplify",
            args,
        };
        each(args, |row, encoder| {
            let tolerance = tolerance(row.number())?;
            let shape = call.shape(row.dynamic(0))?;
            let polygons = call.simplified(&[shape], tolerance)?;
            write(
                Collection {
                    polygons,
                    ..Collection::default()
                },
                encoder,
            )
        })
    },
);

pub(crate) static ARRAY: ScalarFunction = function(
    &["geo_simplify_polygons_array(polygons: dynamic, [tolerance: number]) -> dynamic"],
    "The polygons of an array, which must not overlap, with chains of nearly straight edges replaced by single edges within a tolerance in metres, by default 10; null if all disappear or one is not valid.",
    ResultName::None,
    &[example(
        "print t = geo_simplify_polygons_array(dynamic([{'type': 'Polygon', 'coordinates': [[[0, 0], [2, 0], [0, 2], [0, 1], [0, 0]]]}, {'type': 'Polygon', 'coordinates': [[[5, 5], [6, 5], [5, 6], [5, 5]]]}])).type",
        "t:dynamic\nMultiPolygon",
    )],
    |args| {
        let tolerance = tolerances(args)?;
        let call = Call {
            name: "geo_simplify_polygons_array",
            args,
        };
        each(args, |row, encoder| {
            let tolerance = tolerance(row.number())?;
            let shapes = elements(row, |element| Some(vec![call.shape(element)?]))?;
            let polygons = call.simplified(&[union_of_all(shapes.clone())?], tolerance)?;
            // Whether the engine unites polygons before or keeps them apart is not known.
            if shapes.len() > 1 {
                let apart = call.simplified(&shapes, tolerance)?;
                if outlines(&polygons) != outlines(&apart) {
                    return call.refuse("polygons that overlap or meet are not supported");
                }
            }
            write(
                Collection {
                    polygons,
                    ..Collection::default()
                },
                encoder,
            )
        })
    },
);

/// The tolerance in metres of a call without one.
const DEFAULT_TOLERANCE: f64 = 10.0;

/// The most vertices of a value. The builder cannot be cancelled, and its time grows with the square of the number. For this many
/// vertices a release build takes up to 80 ms, but up to 320 ms if a line crosses itself everywhere, and an array is built twice.
const MAX_VERTICES: usize = 2000;

/// One call of a function.
struct Call<'a> {
    name: &'static str,
    args: &'a KernelArgs<'a>,
}

impl Call<'_> {
    /// The polygons of a GeoJSON shape, united if there are several; `None` if one is not valid, or if the call fails.
    fn shape(&self, shape: DynamicRef<'_>) -> Option<Vec<Polygon>> {
        let polygons = polygons(shape)?;
        self.allows(vertices(&polygons))?;
        if !polygons.iter().all(is_valid) {
            return None;
        }
        if polygons.len() == 1 {
            return Some(polygons);
        }
        union_of_all(polygons.into_iter().map(|polygon| vec![polygon]).collect())
    }

    /// The polygons of the simplified shapes; `None` if the call fails.
    fn simplified(&self, shapes: &[Vec<Polygon>], tolerance: Tolerance) -> Option<Vec<Polygon>> {
        self.allows(shapes.iter().map(|shape| vertices(shape)).sum())?;
        let shapes = simplified_shapes(shapes, tolerance)?;
        Some(shapes.into_iter().flatten().collect())
    }

    /// `None`, and the call fails, if a value has too many vertices.
    fn allows(&self, vertices: usize) -> Option<()> {
        if vertices > MAX_VERTICES {
            return self.refuse(&format!(
                "a value has {vertices} vertices, and at most {MAX_VERTICES} can be simplified"
            ));
        }
        self.args.limits().should_continue().then_some(())
    }

    /// `None`, and the call fails.
    fn refuse(&self, reason: &str) -> Option<()> {
        let message = format!("{}(): {reason}", self.name);
        self.args.limits().fail(KernelError::Failed(message));
        None
    }
}

/// The tolerance of a row; `None` if it is null or out of range.
fn tolerances<'a>(
    args: &KernelArgs<'a>,
) -> Result<impl Fn(usize) -> Option<Tolerance> + use<'a>, KernelError> {
    let metres = metres(args, 1, DEFAULT_TOLERANCE)?;
    Ok(move |row| Tolerance::of_metres(metres(row)?))
}

fn vertices(polygons: &[Polygon]) -> usize {
    polygons.iter().flatten().map(Vec::len).sum()
}

/// The rings of polygons in an order that depends on their points alone.
fn outlines(polygons: &[Polygon]) -> Vec<Vec<[u64; 3]>> {
    let outline = |ring: &Vec<Point>| {
        let bits = |point: &Point| [point.x, point.y, point.z].map(f64::to_bits);
        let mut outline: Vec<[u64; 3]> = ring.iter().map(bits).collect();
        let first = (0..outline.len()).min_by_key(|i| outline.get(*i).copied());
        outline.rotate_left(first.unwrap_or(0));
        outline
    };
    let mut outlines: Vec<_> = polygons.iter().flatten().map(outline).collect();
    outlines.sort_unstable();
    outlines
}

/// Writes a shape; `None` if it is empty.
fn write(shape: Collection, encoder: &mut Encoder) -> Option<()> {
    if shape.lines.is_empty() && shape.polygons.is_empty() {
        return None;
    }
    shape.write(encoder);
    Some(())
}
