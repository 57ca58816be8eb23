//! H3 cells: hexagons on the faces of an icosahedron, in 16 resolutions (`docs/semantics.md §27`).

use std::str::FromStr;

use h3o::{CellIndex, LatLng, Resolution};
use hindsight_kql_types::Encoder;

use super::grid::{self, Cell, level};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static FROM_POINT: ScalarFunction = function(
    &["geo_point_to_h3cell(longitude: real, latitude: real, [resolution: number]) -> string"],
    "The token of the H3 cell of a point at a resolution from 0 to 15, by default 6; empty if an argument is not valid.",
    ResultName::None,
    &[
        example(
            "print c = geo_point_to_h3cell(2.35, 48.85, 5)",
            "c:string\n851fb467fffffff",
        ),
        example("print c = geo_point_to_h3cell(200, 0)", "c:string\n"),
    ],
    grid::from_point::<CellIndex>,
);

pub(crate) static LEVEL: ScalarFunction = function(
    &["geo_h3cell_level(h3cell: string) -> int"],
    "The resolution of an H3 cell; null if the argument is not an H3 cell.",
    ResultName::None,
    &[example(
        "print n = geo_h3cell_level('851fb467fffffff')",
        "n:int\n5",
    )],
    |args| {
        let token = args.strings(0)?;
        Ok(args.collect_ints(|row| {
            let cell = CellIndex::named(token.get(row))?;
            Some(i32::from(u8::from(cell.resolution())))
        }))
    },
);

pub(crate) static PARENT: ScalarFunction = function(
    &["geo_h3cell_parent(h3cell: string, [resolution: number]) -> string"],
    "The H3 cell that contains a cell, by default of the next coarser resolution; empty if there is none.",
    ResultName::None,
    &[example(
        "print c = geo_h3cell_parent('851fb467fffffff', 1)",
        "c:string\n811fbffffffffff",
    )],
    |args| {
        let token = args.strings(0)?;
        let resolution = level(args, 1)?;
        Ok(args.collect_strings(|row| {
            let cell = CellIndex::named(token.get(row))?;
            let coarser = i64::from(u8::from(cell.resolution())) - 1;
            let resolution = resolution(row).map_or(Some(coarser), |given| given)?;
            let parent = cell.parent(resolution_of(resolution)?)?;
            Some(Cow::Owned(parent.to_string()))
        }))
    },
);

pub(crate) static CHILDREN: ScalarFunction = function(
    &["geo_h3cell_children(h3cell: string, [resolution: number]) -> dynamic"],
    "The H3 cells within a cell, by default of the next finer resolution; null if there are none or more than 65,536.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_h3cell_children('851fb467fffffff'))",
        "n:long\n7",
    )],
    |args| {
        let token = args.strings(0)?;
        let resolution = level(args, 1)?;
        each(args, |row, encoder| {
            let cell = CellIndex::named(token.get(row.number()))?;
            let own = i64::from(u8::from(cell.resolution()));
            let wanted = resolution(row.number()).map_or(Some(own + 1), |given| given)?;
            let resolution = resolution_of(wanted).filter(|_| wanted > own)?;
            if cell.children_count(resolution) > MAX_CHILDREN {
                return None;
            }
            encoder.begin_array();
            for child in cell.children(resolution) {
                encoder.string(&child.to_string());
            }
            encoder.end();
            Some(())
        })
    },
);

pub(crate) static CENTRAL_POINT: ScalarFunction = function(
    &["geo_h3cell_to_central_point(h3cell: string) -> dynamic"],
    "The center of an H3 cell as a GeoJSON point; null if the argument is not an H3 cell.",
    ResultName::None,
    &[example(
        "print p = geo_h3cell_to_central_point('none')",
        "p:dynamic\nnull",
    )],
    grid::central_point::<CellIndex>,
);

pub(crate) static POLYGON: ScalarFunction = function(
    &["geo_h3cell_to_polygon(h3cell: string) -> dynamic"],
    "The outline of an H3 cell as a GeoJSON polygon; null if the argument is not an H3 cell.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_h3cell_to_polygon('851fb467fffffff').coordinates[0])",
        "n:long\n7",
    )],
    grid::polygon::<CellIndex>,
);

pub(crate) static NEIGHBORS: ScalarFunction = function(
    &["geo_h3cell_neighbors(h3cell: string) -> dynamic"],
    "The H3 cells around a cell; null if the argument is not an H3 cell.",
    ResultName::None,
    &[example(
        "print n = geo_h3cell_neighbors('862a1072fffffff')",
        "n:dynamic\n[\"862a10727ffffff\",\"862a10707ffffff\",\"862a1070fffffff\",\"862a10777ffffff\",\"862a100dfffffff\",\"862a100d7ffffff\"]",
    )],
    |args| {
        let token = args.strings(0)?;
        each(args, |row, encoder| {
            let cell = CellIndex::named(token.get(row.number()))?;
            let rings = rings(cell, 1, args)?;
            write_cells(rings.get(1)?, encoder);
            Some(())
        })
    },
);

pub(crate) static RINGS: ScalarFunction = function(
    &["geo_h3cell_rings(h3cell: string, distance: number) -> dynamic"],
    "The H3 cells at each distance from a cell, from 0 to the given one, at most 142; null if an argument is not valid.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_h3cell_rings('861f8894fffffff', 2)[2])",
        "n:long\n12",
    )],
    |args| {
        let token = args.strings(0)?;
        let distance = args.longs(1)?;
        each(args, |row, encoder| {
            let cell = CellIndex::named(token.get(row.number()))?;
            let distance = u32::try_from(distance.get(row.number())?).ok();
            let distance = distance.filter(|distance| *distance <= MAX_DISTANCE)?;
            encoder.begin_array();
            for ring in rings(cell, distance, args)? {
                write_cells(&ring, encoder);
            }
            encoder.end();
            Some(())
        })
    },
);

/// The greatest distance of rings.
const MAX_DISTANCE: u32 = 142;

/// The cells at each distance from 0 to `last`, in the order of the H3 library: around the cell, or by breadth near a pentagon.
fn rings(cell: CellIndex, last: u32, args: &KernelArgs<'_>) -> Option<Vec<Vec<CellIndex>>> {
    let around: Option<Vec<(CellIndex, u32)>> = cell.grid_disk_distances_fast(last).collect();
    let cells = around.unwrap_or_else(|| cell.grid_disk_distances_safe(last).collect());
    let mut rings = vec![Vec::new(); usize::try_from(last).ok()? + 1];
    for (cell, distance) in cells {
        if !args.limits().should_continue() {
            return None;
        }
        rings.get_mut(usize::try_from(distance).ok()?)?.push(cell);
    }
    Some(rings)
}

fn write_cells(cells: &[CellIndex], encoder: &mut Encoder) {
    encoder.begin_array();
    for cell in cells {
        encoder.string(&cell.to_string());
    }
    encoder.end();
}

/// The maximum length of the array of children.
const MAX_CHILDREN: u64 = 65_536;

impl Cell for CellIndex {
    const DEFAULT_LEVEL: i64 = 6;

    fn name_around(longitude: f64, latitude: f64, level: i64) -> Option<String> {
        let point = LatLng::new(latitude, longitude).ok()?;
        Some(point.to_cell(resolution_of(level)?).to_string())
    }

    fn named(token: &str) -> Option<CellIndex> {
        CellIndex::from_str(token).ok()
    }

    fn middle(&self) -> (f64, f64) {
        let middle = LatLng::from(*self);
        (middle.lng(), middle.lat())
    }

    fn outline(&self) -> Vec<(f64, f64)> {
        let outline = self.boundary();
        let corners = outline.iter().chain(outline.first());
        corners.map(|corner| (corner.lng(), corner.lat())).collect()
    }
}

fn resolution_of(number: i64) -> Option<Resolution> {
    Resolution::try_from(u8::try_from(number).ok()?).ok()
}
