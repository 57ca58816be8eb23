//! `gettype` (`docs/semantics.md §2`).

use hindsight_kql_types::DynamicRef;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["gettype(value: any) -> string"],
    "The name of the value's type; for a dynamic, the type of its content.",
    ResultName::Prefixed("type_"),
    &[
        example("print s = gettype(1d)", "s:string\ntimespan"),
        example(
            "print s = gettype(dynamic({'a': 1}))",
            "s:string\ndictionary",
        ),
        example("print s = gettype(dynamic([1.5])[0])", "s:string\ndouble"),
    ],
    kernel,
);

fn kernel(args: &KernelArgs<'_>) -> KernelResult {
    let kind = args.kind(0);
    if kind != ScalarType::Dynamic {
        return Ok(args.collect_strings(|_| Some(Cow::Borrowed(kind.name()))));
    }
    let value = args.dynamics(0)?;
    Ok(args.collect_strings(|row| {
        let held = value.get(row).map_or(DynamicRef::NULL, DynamicRef::new);
        Some(Cow::Borrowed(held.type_name()))
    }))
}
