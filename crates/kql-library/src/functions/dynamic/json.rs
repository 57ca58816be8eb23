//! `parse_json`, `dynamic_to_json`, `treepath` (`docs/semantics.md §9.2, §9.6, §9.8`).

use std::collections::HashSet;

use hindsight_kql_types::dynamic::{Kind, MAX_ENCODED, encode_parsed};
use hindsight_kql_types::{DynamicRef, Encoder};

use crate::dynamic::rows::{each, with_rows};
use crate::functions::prelude::*;
use crate::kernel::MAX_TEXT;

pub(crate) static PARSE_JSON: ScalarFunction = function(
    &["parse_json(value: any) -> dynamic"],
    "The value of JSON text; text that is no JSON becomes a string, and `\"\"` null. Other values are wrapped.",
    ResultName::FirstArgument,
    &[
        example(
            "print d = parse_json('{\"b\": [1, 2.0], \"a\": null}')",
            "d:dynamic\n{\"b\":[1,2.0],\"a\":null}",
        ),
        example("print d = gettype(parse_json('no json'))", "d:string\nstring"),
    ],
    parse_json,
)
.with_aliases(&["todynamic", "toobject", "parsejson"]);

pub(crate) static DYNAMIC_TO_JSON: ScalarFunction = function(
    &["dynamic_to_json(value: any) -> string"],
    "Canonical JSON text: the keys of bags are sorted at every level.",
    ResultName::None,
    &[example(
        "print s = dynamic_to_json(dynamic({'b': 1, 'a': [2.0]}))",
        "s:string\n{\"a\":[2.0],\"b\":1}",
    )],
    dynamic_to_json,
);

pub(crate) static TREEPATH: ScalarFunction = function(
    &["treepath(object: dynamic) -> dynamic"],
    "The paths of all properties in document order; the elements of an array share one path.",
    ResultName::Prefixed("tree"),
    &[
        example(
            "print p = treepath(dynamic({'a': {'b': 1}}))",
            "p:dynamic\n[\"['a']\",\"['a']['b']\"]",
        ),
        example(
            "print p = treepath(dynamic({'a': [7, 8]}))",
            "p:dynamic\n[\"['a']\",\"['a'][0]\"]",
        ),
        example(
            "print p = treepath(dynamic({'a': [7, {'x': 1}]}))",
            "p:dynamic\n[\"['a']\",\"['a'][0]\",\"['a'][0]['x']\"]",
        ),
    ],
    treepath,
);

fn parse_json(args: &KernelArgs<'_>) -> KernelResult {
    if args.kind(0) == ScalarType::String {
        let texts = args.strings(0)?;
        let mut encoder = encoder();
        return Ok(args.collect_dynamics(|row, out| {
            encode_parsed(texts.get(row), &mut encoder);
            encoder.finish_into(out);
            out.is_empty() || !DynamicRef::new(out).is_null()
        }));
    }
    each(args, |row, encoder| {
        let (cells, at) = row.cells().next()?;
        if cells.is_null(at) {
            return None;
        }
        cells.pack(at, encoder);
        Some(())
    })
}

fn dynamic_to_json(args: &KernelArgs<'_>) -> KernelResult {
    let mut encoder = encoder();
    with_rows(
        args,
        |text| args.collect_strings(|row| text(row).map(Cow::Owned)),
        |row| {
            let bytes = row.packed(0, &mut encoder)?;
            Some(DynamicRef::new(&bytes).to_canonical_json_within(MAX_TEXT))
        },
    )
}

fn treepath(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let value = row.dynamic(0);
        if value.kind() != Kind::Bag {
            return None;
        }
        let mut paths = Paths {
            written: HashSet::new(),
            bytes: 0,
            encoder,
        };
        paths.encoder.begin_array();
        paths.below(value, "");
        paths.encoder.end();
        Some(())
    })
}

/// The paths of a value, each written once.
struct Paths<'e> {
    written: HashSet<String>,
    /// The bytes of `written`.
    bytes: usize,
    encoder: &'e mut Encoder,
}

impl Paths<'_> {
    /// Writes the paths below `path`. All elements of an array have the path `[0]`. The recursion depth is bounded by the
    /// depth of parsed JSON.
    fn below(&mut self, value: DynamicRef<'_>, path: &str) {
        for (key, inner) in value.iter_bag() {
            self.write(format!("{path}['{key}']"), inner);
        }
        for element in value.iter_array() {
            self.write(format!("{path}[0]"), element);
        }
    }

    /// Writes a path and the paths below it. The encoder refuses a result beyond its limit, which is reached here.
    fn write(&mut self, path: String, value: DynamicRef<'_>) {
        if self.bytes > MAX_ENCODED {
            return;
        }
        if !self.written.contains(&path) {
            self.encoder.string(&path);
            self.bytes += path.len();
            self.written.insert(path.clone());
        }
        self.below(value, &path);
    }
}
