//! What the grids of cells have in common: geohashes, S2 cells and H3 cells, each cell named by a text.

use super::shape::{write_point, write_polygon};
use super::sphere::Point;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

/// A cell of a grid. Points are longitude and latitude in degrees.
pub(super) trait Cell: Sized {
    /// The level of a cell around a point where none is asked for.
    const DEFAULT_LEVEL: i64;

    /// The name of the cell of a level around a point of the sphere; none where the grid has no such level.
    fn name_around(longitude: f64, latitude: f64, level: i64) -> Option<String>;
    /// The cell of a name; none where there is none.
    fn named(name: &str) -> Option<Self>;
    /// Its middle.
    fn middle(&self) -> (f64, f64);
    /// Its corners counter-clockwise, the first one again at the end.
    fn outline(&self) -> Vec<(f64, f64)>;
}

/// The name of the cell around a point, given as longitude, latitude and, if wanted, level; empty where there is none.
pub(super) fn from_point<C: Cell>(args: &KernelArgs<'_>) -> Answer {
    let (longitude, latitude) = (args.reals(0)?, args.reals(1)?);
    let level = level(args, 2)?;
    Ok(args.collect_strings(|row| {
        let level = level(row).unwrap_or(Some(C::DEFAULT_LEVEL))?;
        let (longitude, latitude) = (longitude.get(row)?, latitude.get(row)?);
        Point::at(longitude, latitude)?;
        C::name_around(longitude, latitude, level).map(Cow::Owned)
    }))
}

/// The middle of a named cell as a GeoJSON point; null where there is none.
pub(super) fn central_point<C: Cell>(args: &KernelArgs<'_>) -> Answer {
    let names = args.strings(0)?;
    each(args, |row, encoder| {
        write_point(C::named(names.get(row.number()))?.middle(), encoder);
        Some(())
    })
}

/// The outline of a named cell as a GeoJSON polygon; null where there is none.
pub(super) fn polygon<C: Cell>(args: &KernelArgs<'_>) -> Answer {
    let names = args.strings(0)?;
    each(args, |row, encoder| {
        write_polygon(C::named(names.get(row.number()))?.outline(), encoder);
        Some(())
    })
}

/// The level in argument `index` of each row: none where it was not given, none inside where it is null.
pub(super) fn level<'a>(
    args: &KernelArgs<'a>,
    index: usize,
) -> Result<impl Fn(usize) -> Option<Option<i64>> + use<'a>, KernelError> {
    let values = if args.len() > index {
        Some(args.longs(index)?)
    } else {
        None
    };
    Ok(move |row| values.as_ref().map(|values| values.get(row)))
}
