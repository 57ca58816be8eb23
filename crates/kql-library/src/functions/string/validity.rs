//! `isascii` and `isutf8`.

use crate::functions::prelude::*;

pub(crate) static ISASCII: ScalarFunction = function(
    &["isascii(value: text) -> bool"],
    "Whether every character is ASCII.",
    ResultName::None,
    &[example("print b = isascii('naïve')", "b:bool\nfalse")],
    |args| {
        let text = args.texts(0)?;
        Ok(args.collect_bools(|row| Some(text.get(row).is_ascii())))
    },
);

// Strings in this engine are always valid UTF-8.
pub(crate) static ISUTF8: ScalarFunction = function(
    &["isutf8(value: text) -> bool"],
    "Whether the text is valid UTF-8.",
    ResultName::None,
    &[example("print b = isutf8('naïve')", "b:bool\ntrue")],
    |args| Ok(args.collect_bools(|_| Some(true))),
);
