//! `geo_union_polygons_array` and `geo_union_lines_array` (`docs/semantics.md §27`).

use super::arrangement::Arrangement;
use super::overlay::{joined, union_of_all};
use super::shape::{Collection, lines, polygons};
use super::sphere::Point;
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

pub(crate) static POLYGONS: ScalarFunction = function(
    &["geo_union_polygons_array(polygons: dynamic) -> dynamic"],
    "The union of an array of polygons; null if one is not valid.",
    ResultName::None,
    &[example(
        "print u = geo_union_polygons_array(dynamic([{'type': 'Polygon', 'coordinates': [[[0, 0], [2, 0], [0, 2], [0, 0]]]}, {'type': 'Polygon', 'coordinates': [[[5, 5], [6, 5], [5, 6], [5, 5]]]}])).type",
        "u:dynamic\nMultiPolygon",
    )],
    |args| {
        each(args, |row, encoder| {
            let shapes = elements(row, |shape| Some(vec![polygons(shape)?]))?;
            Collection {
                polygons: union_of_all(shapes)?,
                ..Collection::default()
            }
            .write(encoder);
            Some(())
        })
    },
);

pub(crate) static LINES: ScalarFunction = function(
    &["geo_union_lines_array(lines: dynamic) -> dynamic"],
    "The union of an array of lines, divided where they meet and joined where they do not branch; null if one is not valid.",
    ResultName::None,
    &[example(
        "print u = array_length(geo_union_lines_array(dynamic([{'type': 'LineString', 'coordinates': [[0, 0], [2, 2]]}, {'type': 'LineString', 'coordinates': [[0, 2], [2, 0]]}])).coordinates)",
        "u:long\n4",
    )],
    |args| {
        each(args, |row, encoder| {
            Collection {
                lines: union_of_lines(&elements(row, lines)?)?,
                ..Collection::default()
            }
            .write(encoder);
            Some(())
        })
    },
);

/// The union of lines; `None` if the query is cancelled.
pub(super) fn union_of_lines(lines: &[Vec<Point>]) -> Option<Vec<Vec<Point>>> {
    let arrangement = Arrangement::of(lines)?;
    let parts: Vec<(usize, usize)> = arrangement.parts().map(|(_, a, b)| (a, b)).collect();
    let point = |vertex: &usize| arrangement.vertices.point(*vertex);
    let line = |line: Vec<usize>| line.iter().map(point).collect::<Option<Vec<Point>>>();
    joined(&parts).into_iter().map(line).collect()
}

/// The shapes of the elements of an array; `None` if there is none or one is not valid.
pub(super) fn elements<T>(
    row: Row<'_>,
    mut shapes: impl FnMut(hindsight_kql_types::DynamicRef<'_>) -> Option<Vec<T>>,
) -> Option<Vec<T>> {
    let mut all = Vec::new();
    for element in row.array(0)? {
        all.extend(shapes(element)?);
    }
    (!all.is_empty()).then_some(all)
}
