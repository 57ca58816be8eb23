//! The common interface of cell grids: geohashes, S2 cells and H3 cells, each cell identified by a token.

use super::shape::{write_point, write_polygon};
use super::sphere::Point;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

/// A cell of a grid. Points are longitude and latitude in degrees.
pub(super) trait Cell: Sized {
    /// The default level of the cell around a point.
    const DEFAULT_LEVEL: i64;

    /// The token of the cell at a level around a point of the sphere; `None` if the grid has no such level.
    fn name_around(longitude: f64, latitude: f64, level: i64) -> Option<String>;
    /// Parses the token of a cell; `None` if it is not valid.
    fn named(name: &str) -> Option<Self>;
    /// The center of the cell.
    fn middle(&self) -> (f64, f64);
    /// The corners of the cell counter-clockwise; the first corner is repeated at the end.
    fn outline(&self) -> Vec<(f64, f64)>;
}

/// The token of the cell around a point, given as longitude, latitude and optional level; empty if there is no such cell.
pub(super) fn from_point<C: Cell>(args: &KernelArgs<'_>) -> KernelResult {
    let (longitude, latitude) = (args.reals(0)?, args.reals(1)?);
    let level = level(args, 2)?;
    Ok(args.collect_strings(|row| {
        let level = level(row).unwrap_or(Some(C::DEFAULT_LEVEL))?;
        let (longitude, latitude) = (longitude.get(row)?, latitude.get(row)?);
        Point::at(longitude, latitude)?;
        C::name_around(longitude, latitude, level).map(Cow::Owned)
    }))
}

/// The center of a cell as a GeoJSON point; null if the token is not valid.
pub(super) fn central_point<C: Cell>(args: &KernelArgs<'_>) -> KernelResult {
    let names = args.strings(0)?;
    each(args, |row, encoder| {
        write_point(C::named(names.get(row.number()))?.middle(), encoder);
        Some(())
    })
}

/// The outline of a cell as a GeoJSON polygon; null if the token is not valid.
pub(super) fn polygon<C: Cell>(args: &KernelArgs<'_>) -> KernelResult {
    let names = args.strings(0)?;
    each(args, |row, encoder| {
        write_polygon(C::named(names.get(row.number()))?.outline(), encoder);
        Some(())
    })
}

/// The level in argument `index` per row, without its fraction (`docs/semantics.md §27`): the outer `None` if the argument is absent, the inner `None` if it is null.
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
