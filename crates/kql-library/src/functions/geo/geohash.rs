//! Geohashes: base-32 strings whose bits alternately halve longitude and latitude.

use super::grid::{self, Cell};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static FROM_POINT: ScalarFunction = function(
    &["geo_point_to_geohash(longitude: real, latitude: real, [accuracy: number]) -> string"],
    "The geohash of a point, of 1 to 18 characters, by default 5; empty if an argument is not valid.",
    ResultName::None,
    &[
        example(
            "print g = geo_point_to_geohash(-5.6, 42.6, 5)",
            "g:string\nezs42",
        ),
        example("print g = geo_point_to_geohash(200, 0)", "g:string\n"),
    ],
    grid::from_point::<Area>,
);

pub(crate) static CENTRAL_POINT: ScalarFunction = function(
    &["geo_geohash_to_central_point(geohash: string) -> dynamic"],
    "The center of a geohash as a GeoJSON point; null if the argument is not a geohash.",
    ResultName::None,
    &[example(
        "print p = geo_geohash_to_central_point('s')",
        "p:dynamic\n{\"type\":\"Point\",\"coordinates\":[22.5,22.5]}",
    )],
    grid::central_point::<Area>,
);

pub(crate) static POLYGON: ScalarFunction = function(
    &["geo_geohash_to_polygon(geohash: string) -> dynamic"],
    "The outline of a geohash as a GeoJSON polygon; null if the argument is not a geohash.",
    ResultName::None,
    &[example(
        "print p = geo_geohash_to_polygon('s')",
        "p:dynamic\n{\"type\":\"Polygon\",\"coordinates\":[[[0.0,0.0],[45.0,0.0],[45.0,45.0],[0.0,45.0],[0.0,0.0]]]}",
    )],
    grid::polygon::<Area>,
);

pub(crate) static NEIGHBORS: ScalarFunction = function(
    &["geo_geohash_neighbors(geohash: string) -> dynamic"],
    "The geohashes adjacent to a geohash; null if the argument is not a geohash.",
    ResultName::None,
    &[example(
        "print n = geo_geohash_neighbors('sunny')",
        "n:dynamic\n[\"sunnt\",\"sunpj\",\"sunnx\",\"sunpn\",\"sunnv\",\"sunpp\",\"sunnz\",\"sunnw\"]",
    )],
    |args| {
        let hash = args.strings(0)?;
        each(args, |row, encoder| {
            let hash = hash.get(row.number());
            let Area { east, north } = Area::named(hash)?;
            encoder.begin_array();
            for (right, up) in NEIGHBOR_OFFSETS {
                let latitude = north.middle() + up * (north.1 - north.0);
                // There is no neighbor beyond a pole; longitude wraps around.
                if latitude.abs() < 90.0 {
                    let longitude = east.middle() + right * (east.1 - east.0);
                    let longitude = (longitude + 180.0).rem_euclid(360.0) - 180.0;
                    let length = i64::try_from(hash.len()).ok()?;
                    encoder.string(&encode(longitude, latitude, length));
                }
            }
            encoder.end();
            Some(())
        })
    },
);

/// The offsets of the neighbors of a geohash, to the right and up, in the order of the documentation (`docs/semantics.md §27`).
const NEIGHBOR_OFFSETS: [(f64, f64); 8] = [
    (-1.0, -1.0),
    (-1.0, 1.0),
    (1.0, -1.0),
    (0.0, 1.0),
    (-1.0, 0.0),
    (1.0, 1.0),
    (1.0, 0.0),
    (0.0, -1.0),
];

const DIGITS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// Halves a range by one bit.
struct Range(f64, f64);

impl Range {
    fn middle(&self) -> f64 {
        f64::midpoint(self.0, self.1)
    }

    fn keep(&mut self, upper: bool) {
        if upper {
            self.0 = self.middle()
        } else {
            self.1 = self.middle()
        }
    }
}

fn encode(longitude: f64, latitude: f64, length: i64) -> String {
    let mut ranges = [
        (Range(-180.0, 180.0), longitude),
        (Range(-90.0, 90.0), latitude),
    ];
    let mut out = String::new();
    let [east, north] = &mut ranges;
    let mut is_east = true;
    for _ in 0..length {
        let mut digit = 0;
        for _ in 0..5 {
            let (range, value) = if is_east { &mut *east } else { &mut *north };
            let upper = *value >= range.middle();
            range.keep(upper);
            digit = digit * 2 + usize::from(upper);
            is_east = !is_east;
        }
        out.extend(DIGITS.get(digit).map(|d| char::from(*d)));
    }
    out
}

/// The longitude and latitude ranges of a geohash.
struct Area {
    east: Range,
    north: Range,
}

impl Cell for Area {
    const DEFAULT_LEVEL: i64 = 5;

    fn name_around(longitude: f64, latitude: f64, level: i64) -> Option<String> {
        (1..=18)
            .contains(&level)
            .then(|| encode(longitude, latitude, level))
    }

    fn named(hash: &str) -> Option<Area> {
        if !(1..=18).contains(&hash.len()) {
            return None;
        }
        let (mut east, mut north) = (Range(-180.0, 180.0), Range(-90.0, 90.0));
        let mut is_east = true;
        for byte in hash.to_ascii_lowercase().bytes() {
            let digit = DIGITS.iter().position(|d| *d == byte)?;
            for bit in (0..5).rev() {
                let upper = digit >> bit & 1 == 1;
                if is_east {
                    east.keep(upper)
                } else {
                    north.keep(upper)
                }
                is_east = !is_east;
            }
        }
        Some(Area { east, north })
    }

    fn middle(&self) -> (f64, f64) {
        (self.east.middle(), self.north.middle())
    }

    fn outline(&self) -> Vec<(f64, f64)> {
        let (east, north) = (&self.east, &self.north);
        vec![
            (east.0, north.0),
            (east.1, north.0),
            (east.1, north.1),
            (east.0, north.1),
            (east.0, north.0),
        ]
    }
}
