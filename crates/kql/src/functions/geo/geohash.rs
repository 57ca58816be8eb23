//! Geohashes: base-32 texts whose bits halve longitude and latitude by turns.

use super::shape::write_point;
use super::sphere::Point;
use crate::functions::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static FROM_POINT: ScalarFunction = function(
    &["geo_point_to_geohash(longitude: real, latitude: real, [accuracy: integer]) -> string"],
    "The geohash of a point, of 1 to 18 characters, by default 5; empty where there is none.",
    ResultName::None,
    &[
        example(
            "print g = geo_point_to_geohash(-5.6, 42.6, 5)",
            "g:string\nezs42",
        ),
        example("print g = geo_point_to_geohash(200, 0)", "g:string\n"),
    ],
    |args| {
        let (longitude, latitude) = (args.reals(0)?, args.reals(1)?);
        let accuracy = match args.len() > 2 {
            true => Some(args.longs(2)?),
            false => None,
        };
        Ok(args.collect_strings(|row| {
            let length = accuracy.as_ref().map_or(Some(5), |a| a.get(row))?;
            let (longitude, latitude) = (longitude.get(row)?, latitude.get(row)?);
            Point::at(longitude, latitude)?;
            (1..=18)
                .contains(&length)
                .then(|| Cow::Owned(encode(longitude, latitude, length)))
        }))
    },
);

pub(crate) static CENTRAL_POINT: ScalarFunction = function(
    &["geo_geohash_to_central_point(geohash: string) -> dynamic"],
    "The middle of a geohash as a GeoJSON point; null where it is none.",
    ResultName::None,
    &[example(
        "print p = geo_geohash_to_central_point('s')",
        "p:dynamic\n{\"type\":\"Point\",\"coordinates\":[22.5,22.5]}",
    )],
    |args| {
        let hash = args.strings(0)?;
        each(args, |row, encoder| {
            write_point(middle(hash.get(row.number()))?, encoder);
            Some(())
        })
    },
);

const DIGITS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// Halves a range by one bit.
struct Range(f64, f64);

impl Range {
    fn middle(&self) -> f64 {
        f64::midpoint(self.0, self.1)
    }

    fn keep(&mut self, upper: bool) {
        match upper {
            true => self.0 = self.middle(),
            false => self.1 = self.middle(),
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

fn middle(hash: &str) -> Option<(f64, f64)> {
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
    Some((east.middle(), north.middle()))
}
