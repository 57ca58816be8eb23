//! Arguments that are lengths in metres.

use crate::functions::prelude::*;

/// A length in metres in argument `index` per row: the default if the argument is absent, `None` if it is null.
pub(super) fn metres<'a>(
    args: &KernelArgs<'a>,
    index: usize,
    default: f64,
) -> Result<impl Fn(usize) -> Option<f64> + use<'a>, KernelError> {
    let values = if args.len() > index {
        Some(args.reals(index)?)
    } else {
        None
    };
    Ok(move |row| match &values {
        Some(values) => values.get(row),
        None => Some(default),
    })
}
