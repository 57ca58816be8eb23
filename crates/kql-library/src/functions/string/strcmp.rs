//! `strcmp`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["strcmp(s1: text, s2: text) -> long"],
    "-1, 0 or 1 if the first text sorts before, equals or sorts after the second, by code units.",
    ResultName::None,
    &[example("print n = strcmp('ABC', 'abc')", "n:long\n-1")],
    |args| {
        let (a, b) = (args.texts(0)?, args.texts(1)?);
        Ok(args.collect_longs(|row| Some(a.get(row).cmp(b.get(row)) as i64)))
    },
);
