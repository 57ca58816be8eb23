//! `toguid` (`docs/semantics.md §8.8`).

use arrow::array::FixedSizeBinaryBuilder;
use hindsight_kql_types::{DynamicRef, guid};

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &[
        "toguid(value: string) -> guid",
        "toguid(value: dynamic) -> guid",
    ],
    "Text of 32 hexadecimal digits, with or without hyphens, as a guid.",
    ResultName::FirstArgument,
    &[example(
        "print g = toguid('A1B2C3D4E5F60718293A4B5C6D7E8F90')",
        "g:guid\na1b2c3d4-e5f6-0718-293a-4b5c6d7e8f90",
    )],
    kernel,
);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    match args.kind(0) {
        ScalarType::Guid => args.full(0),
        ScalarType::Dynamic => {
            let value = args.dynamics(0)?;
            collect(args, |row| DynamicRef::new(value.get(row)?).to_guid())
        }
        _ => {
            let text = args.strings(0)?;
            collect(args, |row| guid::parse(text.get(row)))
        }
    }
}

fn collect(args: &KernelArgs<'_>, f: impl Fn(usize) -> Option<[u8; 16]>) -> KernelResult {
    let mut out = FixedSizeBinaryBuilder::with_capacity(args.rows(), 16);
    for row in 0..args.rows() {
        match f(row) {
            Some(guid) => out.append_value(guid)?,
            None => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}
