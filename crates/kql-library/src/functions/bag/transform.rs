//! Functions that build new bags from others.

use hashbrown::HashSet;

use super::path::Path;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static BAG_MERGE: ScalarFunction = function(
    &["bag_merge(bag1: dynamic, bag: dynamic...63) -> dynamic"],
    "The properties of all bags; the first value of a key is kept, and arguments that are not bags are ignored.",
    ResultName::None,
    &[example(
        "print b = bag_merge(dynamic({'a': 1}), dynamic({'b': 2, 'a': 3}))",
        "b:dynamic\n{\"a\":1,\"b\":2}",
    )],
    |args| {
        each(args, |row, encoder| {
            let mut seen = HashSet::new();
            encoder.begin_bag();
            for bag in (0..row.len()).filter_map(|index| row.bag(index)) {
                let wanted = |_: &_| args.limits().should_continue();
                for (key, value) in bag.iter_bag().take_while(wanted) {
                    if seen.insert(key) {
                        encoder.key(key);
                        encoder.dynamic(value);
                    }
                }
            }
            encoder.end();
            Some(())
        })
    },
);

pub(crate) static BAG_REMOVE_KEYS: ScalarFunction = function(
    &["bag_remove_keys(bag: dynamic, keys: dynamic) -> dynamic"],
    "The bag without the keys of an array; a key may be a path such as `$.a.b`.",
    ResultName::None,
    &[example(
        "print b = bag_remove_keys(dynamic({'a': {'b': 1, 'c': 2}, 'd': 3}), dynamic(['d', '$.a.b']))",
        "b:dynamic\n{\"a\":{\"c\":2}}",
    )],
    |args| {
        each(args, |row, encoder| {
            let bag = row.bag(0)?;
            let keys = row.array(1).unwrap_or_default();
            let paths: Vec<Path> = keys
                .into_iter()
                .filter_map(|key| key.as_str().map(Path::parse))
                .collect();
            let paths: Vec<&[String]> = paths.iter().map(Path::keys).collect();
            Path::write_without(bag, &paths, encoder);
            Some(())
        })
    },
);

pub(crate) static BAG_SET_KEY: ScalarFunction = function(
    &["bag_set_key(bag: dynamic, key: const string, value: any) -> dynamic"],
    "The bag with the value at the key, which comes last; a key may be a path such as `$.a.b`.",
    ResultName::None,
    &[example(
        "print b = bag_set_key(dynamic({'a': 1, 'b': 2}), 'a', 3)",
        "b:dynamic\n{\"b\":2,\"a\":3}",
    )],
    |args| {
        let keys = args.strings(1)?;
        let mut at = 0;
        each(args, |row, encoder| {
            let path = Path::parse(keys.get(at));
            at += 1;
            let bag = row.bag(0)?;
            Path::write_with(bag, path.keys(), encoder, &mut |encoder| {
                row.pack(2, encoder);
            });
            Some(())
        })
    },
);
