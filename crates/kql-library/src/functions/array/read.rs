//! Functions that read an array: `array_length`, `array_sum`, `array_index_of`, `strcat_array`.

use hindsight_kql_types::DynamicRef;
use hindsight_kql_types::dynamic::Kind;

use crate::dynamic::rows::with_rows;
use crate::functions::prelude::*;
use crate::kernel::MAX_TEXT;

pub(crate) static ARRAY_LENGTH: ScalarFunction = function(
    &["array_length(array: dynamic) -> long"],
    "The number of elements; null if the argument is not an array.",
    ResultName::None,
    &[
        example("print n = array_length(dynamic([1, [2, 3]]))", "n:long\n2"),
        example("print n = array_length(dynamic({'a': 1}))", "n:long\nnull"),
    ],
    |args| {
        with_rows(
            args,
            |length| args.collect_longs(length),
            |row| i64::try_from(row.elements(0)?.len()).ok(),
        )
    },
)
.with_aliases(&["arraylength"]);

pub(crate) static ARRAY_SUM: ScalarFunction = function(
    &["array_sum(array: dynamic) -> real"],
    "The sum of the elements, ignoring nulls; null for an empty array or if an element is not a number.",
    ResultName::None,
    &[
        example(
            "print s = array_sum(dynamic([1, 2.5, null]))",
            "s:real\n3.5",
        ),
        example("print s = array_sum(dynamic([]))", "s:real\nnull"),
    ],
    |args| {
        with_rows(
            args,
            |sum| args.collect_reals(sum),
            |row| {
                let array = row.elements(0)?;
                let mut numbers = array.iter().filter(|element| !element.is_null()).peekable();
                numbers.peek()?;
                numbers.map(number).sum()
            },
        )
    },
);

pub(crate) static ARRAY_INDEX_OF: ScalarFunction = function(
    &[
        "array_index_of(array: dynamic, value: any, [start: long], [length: long], [occurrence: long]) -> long",
    ],
    "The index of the first element that equals the value, from 0; -1 where there is none.",
    ResultName::None,
    &[
        example(
            "print i = array_index_of(dynamic(['a', 'b', 'a']), 'a', 1)",
            "i:long\n2",
        ),
        example("print i = array_index_of(dynamic([15]), 15.0)", "i:long\n0"),
    ],
    array_index_of,
);

pub(crate) static STRCAT_ARRAY: ScalarFunction = function(
    &["strcat_array(array: dynamic, delimiter: text) -> string"],
    "The texts of the elements with the delimiter between them.",
    ResultName::None,
    &[example(
        "print s = strcat_array(dynamic([1, 'a', true, null, [2]]), '-')",
        "s:string\n1-a-true--[2]",
    )],
    strcat_array,
)
.with_aliases(&["array_strcat"]);

/// A long or double, converted to a double.
fn number(value: DynamicRef<'_>) -> Option<f64> {
    value.as_f64().or_else(|| value.as_i64().map(|n| n as f64))
}

/// Whether two elements are equal: numbers by value, all other elements by type and content.
pub(crate) fn same(a: DynamicRef<'_>, b: DynamicRef<'_>) -> bool {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a == b;
    }
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.kind() == b.kind() && a.to_canonical_json() == b.to_canonical_json(),
        _ => false,
    }
}

fn array_index_of(args: &KernelArgs<'_>) -> KernelResult {
    let mut encoder = encoder();
    with_rows(
        args,
        |index| args.collect_longs(index),
        |row| {
            let array = row.elements(0)?;
            let wanted = row.packed(1, &mut encoder)?;
            let wanted = DynamicRef::new(&wanted);
            let count = i64::try_from(array.len()).ok()?;
            let option = |index: usize, default| {
                if row.len() > index {
                    row.long(index)
                } else {
                    Some(default)
                }
            };
            let start = option(2, 0)?;
            let start = if start < 0 {
                start.checked_add(count)?
            } else {
                start
            };
            let length = option(3, -1)?;
            let occurrence = option(4, 1)?;
            if start < 0 || length < -1 || occurrence < 1 {
                return None;
            }
            let end = match length {
                -1 => count,
                length => start.saturating_add(length).min(count),
            };
            let found = (0..)
                .zip(array)
                .filter(|(at, element)| (start..end).contains(at) && same(*element, wanted))
                .nth(usize::try_from(occurrence - 1).ok()?);
            Some(found.map_or(-1, |(at, _)| at))
        },
    )
}

fn strcat_array(args: &KernelArgs<'_>) -> KernelResult {
    let delimiters = args.strings(1)?;
    let arrays = args.dynamics(0)?;
    Ok(args.collect_strings(|row| {
        let value = DynamicRef::new(arrays.get(row)?);
        let mut out = String::new();
        if value.kind() != Kind::Array {
            value.to_text_within(MAX_TEXT, &mut out);
            return Some(Cow::Owned(out));
        }
        for (index, element) in value.iter_array().enumerate() {
            if !args.limits().allows_length(out.len()) {
                return None;
            }
            if index > 0 {
                out.push_str(delimiters.get(row));
            }
            element.to_text_within(MAX_TEXT, &mut out);
        }
        Some(Cow::Owned(out))
    }))
}
