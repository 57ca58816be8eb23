//! `strlen` and `string_size`.

use crate::functions::prelude::*;

pub(crate) static STRLEN: ScalarFunction = function(
    &["strlen(source: string) -> long"],
    "The number of Unicode code points of a text.",
    ResultName::Prefixed("strlen_"),
    &[example("print n = strlen('naïve')", "n:long\n5")],
    |args| {
        let text = args.texts(0)?;
        Ok(args.collect_longs(|row| Some(count(text.get(row)))))
    },
);

pub(crate) static STRING_SIZE: ScalarFunction = function(
    &["string_size(source: string) -> long"],
    "The number of bytes of a text in UTF-8.",
    ResultName::Prefixed("string_size_"),
    &[example("print n = string_size('naïve')", "n:long\n6")],
    |args| {
        let text = args.texts(0)?;
        Ok(args.collect_longs(|row| i64::try_from(text.get(row).len()).ok()))
    },
);

fn count(text: &str) -> i64 {
    // Counting characters is vectorized and bounded by the bytes in memory.
    text.chars().count() as i64
}
