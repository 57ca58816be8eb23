//! Conversion between units by their factors of a base unit.

use crate::functions::prelude::*;

/// A unit by its name and its factor, the number of base units in it.
pub(super) type Factor = (&'static str, f64);

/// Converts between units that are multiples of one base unit; null for an unknown unit name.
pub(super) fn by_factor(args: &KernelArgs<'_>, units: &'static [Factor]) -> KernelResult {
    convert(args, |name| {
        let (_, factor) = units.iter().find(|(unit, _)| *unit == name)?;
        Some((*factor, 0.0))
    })
}

/// Converts between units defined as `x * factor + offset` of the base unit.
pub(super) fn convert(
    args: &KernelArgs<'_>,
    unit: impl Fn(&str) -> Option<(f64, f64)>,
) -> KernelResult {
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
