//! `geo_intersection_2lines`, `geo_intersection_2polygons` and `geo_intersection_line_with_polygon`: the common part of two
//! shapes (`docs/semantics.md §27`).

use std::collections::{HashMap, HashSet};

use super::arcs::EPSILON;
use super::arrangement::Arrangement;
use super::overlay::{intersection, joined, rings};
use super::polygons;
use super::shape::{Collection, Polygon, lines, polygons as polygons_of};
use super::sphere::Point;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static LINES: ScalarFunction = function(
    &["geo_intersection_2lines(line1: dynamic, line2: dynamic) -> dynamic"],
    "The points and lines that two lines have in common: an empty collection if there is none, null if a line is not valid.",
    ResultName::None,
    &[example(
        "print i = geo_intersection_2lines(dynamic({'type': 'LineString', 'coordinates': [[1, 1], [2, 2]]}), dynamic({'type': 'LineString', 'coordinates': [[3, 3], [4, 4]]}))",
        "i:dynamic\n{\"type\":\"GeometryCollection\",\"geometries\":[]}",
    )],
    |args| {
        each(args, |row, encoder| {
            let (first, second) = (lines(row.dynamic(0))?, lines(row.dynamic(1))?);
            of_lines(&first, &second)?.write(encoder);
            Some(())
        })
    },
);

pub(crate) static POLYGONS: ScalarFunction = function(
    &["geo_intersection_2polygons(polygon1: dynamic, polygon2: dynamic) -> dynamic"],
    "The part that two polygons have in common, with the points and lines at which they touch: an empty collection if there is none, null if a polygon is not valid.",
    ResultName::None,
    &[example(
        "print i = geo_intersection_2polygons(dynamic({'type': 'Polygon', 'coordinates': [[[0, 0], [1, 0], [0, 1], [0, 0]]]}), dynamic({'type': 'Polygon', 'coordinates': [[[5, 5], [6, 5], [5, 6], [5, 5]]]}))",
        "i:dynamic\n{\"type\":\"GeometryCollection\",\"geometries\":[]}",
    )],
    |args| {
        each(args, |row, encoder| {
            let (first, second) = (polygons_of(row.dynamic(0))?, polygons_of(row.dynamic(1))?);
            intersection(rings(&first), rings(&second))?.write(encoder);
            Some(())
        })
    },
);

pub(crate) static LINE_WITH_POLYGON: ScalarFunction = function(
    &["geo_intersection_line_with_polygon(line: dynamic, polygon: dynamic) -> dynamic"],
    "The parts of a line that are in a polygon: an empty collection if there is none, null if one of them is not valid.",
    ResultName::None,
    &[example(
        "print i = geo_intersection_line_with_polygon(dynamic({'type': 'LineString', 'coordinates': [[20, 1], [22, 2]]}), dynamic({'type': 'Polygon', 'coordinates': [[[5, 5], [6, 5], [5, 6], [5, 5]]]}))",
        "i:dynamic\n{\"type\":\"GeometryCollection\",\"geometries\":[]}",
    )],
    |args| {
        each(args, |row, encoder| {
            let (lines, polygons) = (lines(row.dynamic(0))?, polygons_of(row.dynamic(1))?);
            of_line_and_polygon(&lines, &polygons)?.write(encoder);
            Some(())
        })
    },
);

fn of_lines(first: &[Vec<Point>], second: &[Vec<Point>]) -> Option<Collection> {
    let chains: Vec<Vec<Point>> = first.iter().chain(second).cloned().collect();
    let arrangement = Arrangement::of(&chains)?;
    let is_first = |chain: usize| chain < first.len();
    let key = |a: usize, b: usize| (a.min(b), a.max(b));
    let mut others = HashSet::new();
    let mut at_others = HashSet::new();
    for (_, from, to) in arrangement
        .parts()
        .filter(|(chain, _, _)| !is_first(*chain))
    {
        others.insert(key(from, to));
        at_others.extend([from, to]);
    }
    let of_first = || arrangement.parts().filter(|(chain, _, _)| is_first(*chain));
    let shared: Vec<(usize, usize)> = of_first()
        .map(|(_, from, to)| (from, to))
        .filter(|(from, to)| others.contains(&key(*from, *to)))
        .collect();
    let points = of_first()
        .flat_map(|(_, from, to)| [from, to])
        .filter(|vertex| at_others.contains(vertex));
    collection(&arrangement, points, &shared)
}

fn of_line_and_polygon(lines: &[Vec<Point>], polygons: &[Polygon]) -> Option<Collection> {
    let mut chains = lines.to_vec();
    chains.extend(polygons.iter().flatten().map(|ring| {
        let mut ring = ring.clone();
        ring.extend(ring.first().copied());
        ring
    }));
    let arrangement = Arrangement::of(&chains)?;
    let mut outlines = HashMap::new();
    for (chain, from, to) in arrangement.parts() {
        if chain >= lines.len() {
            outlines.entry(from).or_insert_with(Vec::new).push(to);
            outlines.entry(to).or_insert_with(Vec::new).push(from);
        }
    }
    let of_lines = || {
        arrangement
            .parts()
            .filter(|(chain, _, _)| *chain < lines.len())
    };
    let mut inside = Vec::new();
    for (_, from, to) in of_lines() {
        let (a, b) = (
            arrangement.vertices.point(from)?,
            arrangement.vertices.point(to)?,
        );
        let middle = a.plus(b).unit();
        let on_outline = outlines.get(&from).is_some_and(|next| next.contains(&to));
        if on_outline || polygons.iter().any(|p| polygons::contains(p, middle)) {
            inside.push((from, to));
        }
    }
    let points = of_lines()
        .flat_map(|(_, from, to)| [from, to])
        .filter(|vertex| outlines.contains_key(vertex));
    collection(&arrangement, points, &inside)
}

/// The lines of edges, and the points that are on none of them.
fn collection(
    arrangement: &Arrangement,
    points: impl Iterator<Item = usize>,
    edges: &[(usize, usize)],
) -> Option<Collection> {
    let mut used: HashSet<usize> = edges.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut result = Collection::default();
    for vertex in points {
        if used.insert(vertex) {
            result.points.push(arrangement.vertices.point(vertex)?);
        }
    }
    for line in joined(edges) {
        let point = |vertex: &usize| arrangement.vertices.point(*vertex);
        let line = line.iter().map(point).collect::<Option<Vec<Point>>>()?;
        let length: f64 = line
            .windows(2)
            .map(|edge| match edge {
                [a, b] => a.angle(*b),
                _ => 0.0,
            })
            .sum();
        if length > EPSILON {
            result.lines.push(line);
        }
    }
    Some(result)
}
