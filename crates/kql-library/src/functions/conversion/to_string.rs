//! `tostring` (`docs/semantics.md §8.5`).

use crate::functions::prelude::*;

/// `tostring`
pub static DEF: ScalarFunction = function(
    &["tostring(value: any) -> string"],
    "The text of a value of any type; null is the empty string.",
    ResultName::FirstArgument,
    &[
        example("print s = tostring(true)", "s:string\nTrue"),
        example("print s = tostring(1500.0)", "s:string\n1500.0"),
        example(
            "print s = tostring(datetime(2020-01-02))",
            "s:string\n2020-01-02T00:00:00.0000000Z",
        ),
        example(
            "print s = tostring(dynamic({'a': [1, 'x']}))",
            "s:string\n{\"a\":[1,\"x\"]}",
        ),
    ],
    |args| {
        let text = crate::kernel::to_text(&args.full(0)?, args.kind(0))?;
        Ok(Arc::new(text))
    },
);
