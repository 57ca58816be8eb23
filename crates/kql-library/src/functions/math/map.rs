//! Functions on doubles, applied row by row.

use crate::functions::prelude::*;

/// Applies `f` to the first argument as a double; null stays null.
pub(super) fn map(args: &KernelArgs<'_>, f: impl Fn(f64) -> f64) -> KernelResult {
    let x = args.reals(0)?;
    Ok(args.collect_reals(|row| x.get(row).map(&f)))
}

/// Applies `f` to the first argument as a double; `f` returns `None` outside its domain.
pub(super) fn map_partial(args: &KernelArgs<'_>, f: impl Fn(f64) -> Option<f64>) -> KernelResult {
    let x = args.reals(0)?;
    Ok(args.collect_reals(|row| x.get(row).and_then(&f)))
}

/// Applies `f` to the first two arguments as doubles.
pub(super) fn map2(args: &KernelArgs<'_>, f: impl Fn(f64, f64) -> f64) -> KernelResult {
    let (x, y) = (args.reals(0)?, args.reals(1)?);
    Ok(args.collect_reals(|row| Some(f(x.get(row)?, y.get(row)?))))
}
