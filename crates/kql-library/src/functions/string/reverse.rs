//! `reverse`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["reverse(value: text) -> string"],
    "The text with its code points in reverse order.",
    ResultName::None,
    &[
        example("print s = reverse('añb')", "s:string\nbña"),
        example("print s = reverse(125)", "s:string\n521"),
    ],
    |args| {
        let text = args.texts(0)?;
        Ok(args.collect_strings(|row| Some(text.get(row).chars().rev().collect())))
    },
);
