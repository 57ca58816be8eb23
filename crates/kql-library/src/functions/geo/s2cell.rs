//! S2 cells: the sphere is projected onto the six faces of a cube, each divided into quarters 30 times along a Hilbert
//! curve.

use super::grid::{self, Cell};
use super::sphere::Point;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static FROM_POINT: ScalarFunction = function(
    &["geo_point_to_s2cell(longitude: real, latitude: real, [level: number]) -> string"],
    "The token of the S2 cell of a point at a level from 0 to 30, by default 11; empty if an argument is not valid.",
    ResultName::None,
    &[
        example("print c = geo_point_to_s2cell(0, 0, 0)", "c:string\n1"),
        example("print c = geo_point_to_s2cell(0, 0, 31)", "c:string\n"),
    ],
    grid::from_point::<S2Cell>,
);

pub(crate) static CENTRAL_POINT: ScalarFunction = function(
    &["geo_s2cell_to_central_point(s2cell: string) -> dynamic"],
    "The center of an S2 cell as a GeoJSON point; null if the argument is not an S2 cell.",
    ResultName::None,
    &[example(
        "print p = geo_s2cell_to_central_point('1')",
        "p:dynamic\n{\"type\":\"Point\",\"coordinates\":[0.0,0.0]}",
    )],
    grid::central_point::<S2Cell>,
);

pub(crate) static POLYGON: ScalarFunction = function(
    &["geo_s2cell_to_polygon(s2cell: string) -> dynamic"],
    "The outline of an S2 cell as a GeoJSON polygon; null if the argument is not an S2 cell.",
    ResultName::None,
    &[example(
        "print p = geo_s2cell_to_polygon('none')",
        "p:dynamic\nnull",
    )],
    grid::polygon::<S2Cell>,
);

pub(crate) static NEIGHBORS: ScalarFunction = function(
    &["geo_s2cell_neighbors(s2cell: string) -> dynamic"],
    "The S2 cells that share an edge or a corner with a cell; null if the argument is not an S2 cell.",
    ResultName::None,
    &[example(
        "print n = geo_s2cell_neighbors('89c259')",
        "n:dynamic\n[\"89c25d\",\"89c2f9\",\"89c251\",\"89c257\",\"89c25f\",\"89c25b\",\"89c2f7\",\"89c2f5\"]",
    )],
    |args| {
        let names = args.strings(0)?;
        each(args, |row, encoder| {
            let cell = S2Cell::named(names.get(row.number()))?;
            encoder.begin_array();
            for neighbor in cell.neighbors() {
                encoder.string(&neighbor.token());
            }
            encoder.end();
            Some(())
        })
    },
);

/// The level of the leaf cells.
const LEAF: u32 = 30;

/// For each orientation of the curve: the quarters in curve order, as their halves in i and j.
const PLACES: [[u64; 4]; 4] = [[0, 1, 3, 2], [0, 3, 1, 2], [2, 3, 1, 0], [2, 1, 3, 0]];
/// The change of orientation at each position along the curve: bit 0 swaps the axes, bit 1 inverts them.
const TURNS: [usize; 4] = [1, 0, 0, 3];

/// A cell id: the face, the position along the curve, and a trailing 1 bit that marks the level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct S2Cell(u64);

impl S2Cell {
    /// The cells of level 0.
    pub(super) fn faces() -> impl Iterator<Item = S2Cell> {
        (0..6).map(|face| S2Cell(face << 61 | 1 << 60))
    }

    /// The quarters of a cell along the curve; none of a leaf.
    pub(super) fn children(self) -> impl Iterator<Item = S2Cell> {
        let mark = (self.0 & self.0.wrapping_neg()) >> 2;
        let first = self.0.wrapping_sub(3 * mark);
        (0..4)
            .filter(move |_| mark > 0)
            .map(move |child| S2Cell(first + 2 * child * mark))
    }

    /// The level, from 0 to 30.
    pub(super) fn level(self) -> u32 {
        LEAF - self.0.trailing_zeros() / 2
    }

    /// The center.
    pub(super) fn center(self) -> Point {
        let (i, j, side) = self.corner();
        let half = side as f64 / 2.0;
        self.point(i as f64 + half, j as f64 + half)
    }

    /// The corners counter-clockwise.
    pub(super) fn corners(self) -> [Point; 4] {
        let (i, j, side) = self.corner();
        let (i, j, side) = (i as f64, j as f64, side as f64);
        [(i, j), (i + side, j), (i + side, j + side), (i, j + side)].map(|(i, j)| self.point(i, j))
    }

    fn around(point: Point, level: u32) -> S2Cell {
        let (face, u, v) = face_of(point);
        let (i, j) = (leaf_at(u), leaf_at(v));
        let mut orientation = usize::from(face & 1 == 1);
        let mut place = 0;
        for bit in (0..LEAF).rev() {
            let quarter = ((i >> bit & 1) << 1 | (j >> bit & 1)) as usize;
            let next = PLACES
                .get(orientation)
                .and_then(|p| p.get(quarter))
                .copied();
            let next = next.unwrap_or(0);
            place = place << 2 | next;
            orientation ^= TURNS.get(next as usize).copied().unwrap_or(0);
        }
        let leaf = face << 61 | place << 1 | 1;
        let mark = 1 << (2 * (LEAF - level));
        S2Cell(leaf & (!mark + 1) | mark)
    }

    /// The number in base 16 without trailing zeros.
    pub(super) fn token(self) -> String {
        let text = format!("{:016x}", self.0);
        text.trim_end_matches('0').to_owned()
    }

    fn face(self) -> u64 {
        self.0 >> 61
    }

    /// The cells of the same level that share an edge or a corner.
    fn neighbors(self) -> Vec<S2Cell> {
        let (i, j, side) = self.corner();
        let level = LEAF - side.trailing_zeros();
        let (i, j, side) = (i as i64, j as i64, side as i64);
        // The order is that of the documented neighbors.
        let steps = [
            (1, 1),
            (-1, -1),
            (1, -1),
            (0, -1),
            (0, 1),
            (1, 0),
            (-1, 0),
            (-1, 1),
        ];
        let mut cells = Vec::with_capacity(steps.len());
        for (x, y) in steps {
            // Three faces meet at a corner of the cube, where a cell has no neighbor across the corner.
            let beyond = |at: i64| !(0..1 << LEAF).contains(&at);
            let (i, j) = (i + x * side, j + y * side);
            let leaf = |at: i64| at as f64 + side as f64 / 2.0;
            let cell = match (beyond(i), beyond(j)) {
                (true, true) => continue,
                (false, false) => S2Cell::around(self.point(leaf(i), leaf(j)), level),
                // Beyond the face, the cell is that of the point just across the edge.
                _ => {
                    let across = |at: i64| leaf(at).clamp(-0.5, (1_i64 << LEAF) as f64 + 0.5);
                    S2Cell::around(self.point(across(i), across(j)), level)
                }
            };
            if cell != self && !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        cells
    }

    /// The lower corner in leaf coordinates, and the side length.
    fn corner(self) -> (u64, u64, u64) {
        let mark = self.0 & self.0.wrapping_neg();
        let depth = LEAF - mark.trailing_zeros() / 2;
        let mut orientation = usize::from(self.face() & 1 == 1);
        let (mut i, mut j) = (0, 0);
        for step in 0..depth {
            let place = self.0 >> (59 - 2 * step) & 3;
            let quarters = PLACES.get(orientation).copied().unwrap_or_default();
            let quarter = quarters.iter().position(|p| *p == place).unwrap_or(0) as u64;
            i = i << 1 | quarter >> 1;
            j = j << 1 | quarter & 1;
            orientation ^= TURNS.get(place as usize).copied().unwrap_or(0);
        }
        let side = 1 << (LEAF - depth);
        (i * side, j * side, side)
    }

    /// The point of the face at leaf coordinates `i` and `j`.
    fn point(self, i: f64, j: f64) -> Point {
        let (u, v) = (face_coordinate(i), face_coordinate(j));
        let (x, y, z) = match self.face() {
            0 => (1.0, u, v),
            1 => (-u, 1.0, v),
            2 => (-u, -v, 1.0),
            3 => (-1.0, -v, -u),
            4 => (v, -1.0, -u),
            _ => (v, u, -1.0),
        };
        Point { x, y, z }.unit()
    }
}

impl Cell for S2Cell {
    const DEFAULT_LEVEL: i64 = 11;

    fn name_around(longitude: f64, latitude: f64, level: i64) -> Option<String> {
        let level = u32::try_from(level).ok().filter(|level| *level <= LEAF)?;
        let point = Point::at(longitude, latitude)?;
        Some(S2Cell::around(point, level).token())
    }

    fn named(token: &str) -> Option<S2Cell> {
        if token.is_empty() || token.len() > 16 || !token.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let number = u64::from_str_radix(&format!("{token:0<16}"), 16).ok()?;
        let mark = number & number.wrapping_neg();
        let valid = number >> 61 < 6 && mark & 0x1555_5555_5555_5555 != 0;
        valid.then_some(S2Cell(number))
    }

    fn middle(&self) -> (f64, f64) {
        self.center().degrees()
    }

    fn outline(&self) -> Vec<(f64, f64)> {
        let corners = self.corners();
        let closed = corners.iter().chain(corners.first());
        closed.map(|corner| corner.degrees()).collect()
    }
}

/// The face that contains a point, and the point's coordinates on it, from -1 to 1.
fn face_of(point: Point) -> (u64, f64, f64) {
    let Point { x, y, z } = point;
    if x.abs() > y.abs() && x.abs() > z.abs() {
        if x > 0.0 {
            (0, y / x, z / x)
        } else {
            (3, z / x, y / x)
        }
    } else if y.abs() > z.abs() {
        if y > 0.0 {
            (1, -x / y, z / y)
        } else {
            (4, z / y, -x / y)
        }
    } else {
        if z > 0.0 {
            (2, -x / z, -y / z)
        } else {
            (5, -y / z, -x / z)
        }
    }
}

/// The leaf coordinate of a face coordinate; the quadratic transform keeps cells at similar sizes.
fn leaf_at(u: f64) -> u64 {
    let s = if u >= 0.0 {
        0.5 * (1.0 + 3.0 * u).sqrt()
    } else {
        1.0 - 0.5 * (1.0 - 3.0 * u).sqrt()
    };
    let leaves = (1_u64 << LEAF) as f64;
    (s * leaves).floor().clamp(0.0, leaves - 1.0) as u64
}

fn face_coordinate(leaf: f64) -> f64 {
    let s = leaf / (1_u64 << LEAF) as f64;
    if s >= 0.5 {
        (4.0 * s * s - 1.0) / 3.0
    } else {
        (1.0 - 4.0 * (1.0 - s) * (1.0 - s)) / 3.0
    }
}
