//! `parse_json`, `dynamic_to_json`, `treepath` (`docs/semantics.md §9.2, §9.6, §9.8`).

use hindsight_kql_types::dynamic::{Kind, encode_parsed};
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
    "The paths of all properties in document order.",
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
    let mut known = true;
    let paths = each(args, |row, encoder| {
        let value = row.dynamic(0);
        if value.kind() != Kind::Bag {
            return None;
        }
        encoder.begin_array();
        known &= write_paths(value, "", encoder);
        encoder.end();
        Some(())
    })?;
    if known {
        Ok(paths)
    } else {
        Err(KernelError::Failed(
            "treepath() of bags or arrays inside an array is not supported".to_owned(),
        ))
    }
}

/// Writes the paths below `path`; returns `false` if some are unknown. An array has the single path `[0]` for all its
/// elements; the paths of elements that are bags or arrays are unknown. The recursion depth is bounded by the depth of
/// parsed JSON.
fn write_paths(value: DynamicRef<'_>, path: &str, encoder: &mut Encoder) -> bool {
    let mut known = true;
    for (key, inner) in value.iter_bag() {
        let path = format!("{path}['{key}']");
        encoder.string(&path);
        if !inner.is_empty() && inner.kind() == Kind::Array {
            encoder.string(&format!("{path}[0]"));
        }
        known &= inner
            .iter_array()
            .all(|element| !matches!(element.kind(), Kind::Bag | Kind::Array));
        known &= write_paths(inner, &path, encoder);
    }
    known
}
