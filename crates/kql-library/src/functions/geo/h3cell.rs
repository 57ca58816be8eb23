//! H3 cells: hexagons on the faces of an icosahedron, in 16 resolutions (`semantics.md §27`).

use std::str::FromStr;

use h3o::{CellIndex, LatLng, Resolution};

use super::shape::{write_pair, write_point};
use super::sphere::Point;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static FROM_POINT: ScalarFunction = function(
    &["geo_point_to_h3cell(longitude: real, latitude: real, [resolution: integer]) -> string"],
    "The token of the H3 cell of a point at a resolution from 0 to 15, by default 6; empty where there is none.",
    ResultName::None,
    &[
        example(
            "print c = geo_point_to_h3cell(2.35, 48.85, 5)",
            "c:string\n851fb467fffffff",
        ),
        example("print c = geo_point_to_h3cell(200, 0)", "c:string\n"),
    ],
    |args| {
        let (longitude, latitude) = (args.reals(0)?, args.reals(1)?);
        let resolution = given(args, 2)?;
        Ok(args.collect_strings(|row| {
            let resolution = resolution(row).map_or(Some(6), |given| given)?;
            let (longitude, latitude) = (longitude.get(row)?, latitude.get(row)?);
            Point::at(longitude, latitude)?;
            let point = LatLng::new(latitude, longitude).ok()?;
            let cell = point.to_cell(resolution_of(resolution)?);
            Some(Cow::Owned(cell.to_string()))
        }))
    },
);

pub(crate) static LEVEL: ScalarFunction = function(
    &["geo_h3cell_level(h3cell: string) -> int"],
    "The resolution of an H3 cell; null where it is none.",
    ResultName::None,
    &[example(
        "print n = geo_h3cell_level('851fb467fffffff')",
        "n:int\n5",
    )],
    |args| {
        let token = args.strings(0)?;
        Ok(args.collect_ints(|row| {
            let cell = cell_of(token.get(row))?;
            Some(i32::from(u8::from(cell.resolution())))
        }))
    },
);

pub(crate) static PARENT: ScalarFunction = function(
    &["geo_h3cell_parent(h3cell: string, [resolution: integer]) -> string"],
    "The H3 cell that holds a cell, by default of the next coarser resolution; empty where there is none.",
    ResultName::None,
    &[example(
        "print c = geo_h3cell_parent('851fb467fffffff', 1)",
        "c:string\n811fbffffffffff",
    )],
    |args| {
        let token = args.strings(0)?;
        let resolution = given(args, 1)?;
        Ok(args.collect_strings(|row| {
            let cell = cell_of(token.get(row))?;
            let coarser = i64::from(u8::from(cell.resolution())) - 1;
            let resolution = resolution(row).map_or(Some(coarser), |given| given)?;
            let parent = cell.parent(resolution_of(resolution)?)?;
            Some(Cow::Owned(parent.to_string()))
        }))
    },
);

pub(crate) static CHILDREN: ScalarFunction = function(
    &["geo_h3cell_children(h3cell: string, [resolution: integer]) -> dynamic"],
    "The H3 cells within a cell, by default of the next finer resolution; null where there are none or more than 65,536.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_h3cell_children('851fb467fffffff'))",
        "n:long\n7",
    )],
    |args| {
        let token = args.strings(0)?;
        let resolution = given(args, 1)?;
        each(args, |row, encoder| {
            let cell = cell_of(token.get(row.number()))?;
            let own = i64::from(u8::from(cell.resolution()));
            let wanted = resolution(row.number()).map_or(Some(own + 1), |given| given)?;
            let resolution = resolution_of(wanted).filter(|_| wanted > own)?;
            if cell.children_count(resolution) > MOST_CHILDREN {
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
    "The middle of an H3 cell as a GeoJSON point; null where it is none.",
    ResultName::None,
    &[example(
        "print p = geo_h3cell_to_central_point('none')",
        "p:dynamic\nnull",
    )],
    |args| {
        let token = args.strings(0)?;
        each(args, |row, encoder| {
            let middle = LatLng::from(cell_of(token.get(row.number()))?);
            write_point((middle.lng(), middle.lat()), encoder);
            Some(())
        })
    },
);

pub(crate) static POLYGON: ScalarFunction = function(
    &["geo_h3cell_to_polygon(h3cell: string) -> dynamic"],
    "The outline of an H3 cell as a GeoJSON polygon; null where it is none.",
    ResultName::None,
    &[example(
        "print n = array_length(geo_h3cell_to_polygon('851fb467fffffff').coordinates[0])",
        "n:long\n7",
    )],
    |args| {
        let token = args.strings(0)?;
        each(args, |row, encoder| {
            let outline = cell_of(token.get(row.number()))?.boundary();
            encoder.begin_bag();
            encoder.key("type");
            encoder.string("Polygon");
            encoder.key("coordinates");
            encoder.begin_array();
            encoder.begin_array();
            for corner in outline.iter().chain(outline.first()) {
                write_pair((corner.lng(), corner.lat()), encoder);
            }
            encoder.end();
            encoder.end();
            encoder.end();
            Some(())
        })
    },
);

/// The most cells that an array of children has.
const MOST_CHILDREN: u64 = 65_536;

/// Argument `index` of each row: none where it was not given, none inside where it is null.
fn given<'a>(
    args: &KernelArgs<'a>,
    index: usize,
) -> Result<impl Fn(usize) -> Option<Option<i64>> + use<'a>, KernelError> {
    let values = match args.len() > index {
        true => Some(args.longs(index)?),
        false => None,
    };
    Ok(move |row| values.as_ref().map(|values| values.get(row)))
}

fn resolution_of(number: i64) -> Option<Resolution> {
    Resolution::try_from(u8::try_from(number).ok()?).ok()
}

fn cell_of(token: &str) -> Option<CellIndex> {
    CellIndex::from_str(token).ok()
}
