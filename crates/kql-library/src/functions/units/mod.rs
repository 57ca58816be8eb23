//! `convert_angle` and its kin: a number from one unit of measure into another.
//!
//! Factors are those that the language's answers show, which for some units are rounded (an acre-foot is 1/0.000810714
//! m³, a mile 1609.34 m).

mod angle;
mod energy;
mod force;
mod length;
mod mass;
mod speed;
mod temperature;
mod volume;

use super::prelude::*;
use crate::definition::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &angle::DEF,
    &energy::DEF,
    &force::DEF,
    &length::DEF,
    &mass::DEF,
    &speed::DEF,
    &temperature::DEF,
    &volume::DEF,
];

/// A unit by its name and how many of the base unit it is.
type Factor = (&'static str, f64);

/// Converts between units that are multiples of one base unit; null where a name is not known.
fn by_factor(args: &KernelArgs<'_>, units: &'static [Factor]) -> Answer {
    convert(args, |name| {
        let (_, factor) = units.iter().find(|(unit, _)| *unit == name)?;
        Some((*factor, 0.0))
    })
}

/// Converts between units `x * factor + offset` of the base unit.
fn convert(args: &KernelArgs<'_>, unit: impl Fn(&str) -> Option<(f64, f64)>) -> Answer {
    let (value, from, to) = (args.reals(0)?, args.strings(1)?, args.strings(2)?);
    Ok(args.collect_reals(|row| {
        let value = value.get(row)?;
        let (from, to) = (from.get(row), to.get(row));
        let ((factor, offset), (to_factor, to_offset)) = (unit(from)?, unit(to)?);
        if from == to {
            Some(value)
        } else {
            Some((value * factor + offset - to_offset) / to_factor)
        }
    }))
}
