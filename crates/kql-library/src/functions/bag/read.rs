//! Functions that read a bag.

use super::path::Path;
use crate::dynamic::rows::{each, with_rows};
use crate::functions::prelude::*;

pub(crate) static BAG_KEYS: ScalarFunction = function(
    &["bag_keys(object: dynamic) -> dynamic"],
    "An array of the keys of a bag; null if the argument is not a bag.",
    ResultName::None,
    &[example(
        "print k = bag_keys(dynamic({'b': 1, 'a': {'c': 2}}))",
        "k:dynamic\n[\"b\",\"a\"]",
    )],
    |args| {
        each(args, |row, encoder| {
            let bag = row.bag(0)?;
            encoder.begin_array();
            for (key, _) in bag
                .iter_bag()
                .take_while(|_| args.limits().should_continue())
            {
                encoder.string(key);
            }
            encoder.end();
            Some(())
        })
    },
);

pub(crate) static BAG_HAS_KEY: ScalarFunction = function(
    &["bag_has_key(bag: dynamic, key: string) -> bool"],
    "Whether the bag has the key, which may be a path such as `$.a.b`.",
    ResultName::None,
    &[
        example(
            "print b = bag_has_key(dynamic({'a': null}), 'a')",
            "b:bool\ntrue",
        ),
        example(
            "print b = bag_has_key(dynamic({'a': {'b': 1}}), '$.a.c')",
            "b:bool\nfalse",
        ),
    ],
    |args| {
        let keys = args.strings(1)?;
        let mut at = 0;
        with_rows(
            args,
            |answer| args.collect_bools(answer),
            |row| {
                let path = Path::parse(keys.get(at));
                at += 1;
                Some(path.find(row.bag(0)?).is_some())
            },
        )
    },
);
