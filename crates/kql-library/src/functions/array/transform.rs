//! Functions that build new arrays from the elements of others.

use hindsight_kql_types::dynamic::Kind;
use hindsight_kql_types::{DynamicRef, Encoder};

use crate::dynamic::rows::{Row, each, write_array};
use crate::functions::prelude::*;

pub(crate) static ARRAY_CONCAT: ScalarFunction = function(
    &["array_concat(array: dynamic...) -> dynamic"],
    "The concatenation of all arrays; arguments that are not arrays are ignored.",
    ResultName::None,
    &[example(
        "print a = array_concat(dynamic([1, 2]), dynamic(null), dynamic(['x']))",
        "a:dynamic\n[1,2,\"x\"]",
    )],
    |args| {
        each(args, |row, encoder| {
            let arrays = (0..row.len()).filter_map(|index| row.elements(index));
            write_array(arrays.flatten(), encoder);
            Some(())
        })
    },
);

pub(crate) static ARRAY_SLICE: ScalarFunction = function(
    &["array_slice(array: dynamic, start: long, end: long) -> dynamic"],
    "The elements from `start` to `end`, both included; negative positions count from the end.",
    ResultName::None,
    &[example(
        "print a = array_slice(dynamic([1, 2, 3, 4, 5]), 2, -1)",
        "a:dynamic\n[3,4,5]",
    )],
    |args| {
        each(args, |row, encoder| {
            let array = row.elements(0)?;
            let (start, end) = (row.long(1)?, row.long(2)?);
            let count = i64::try_from(array.len()).ok()?;
            let from_end = |at: i64| if at < 0 { at.saturating_add(count) } else { at };
            let (start, end) = (from_end(start).max(0), from_end(end));
            let after = usize::try_from(end.saturating_add(1)).unwrap_or(0);
            write_array(array.range(usize::try_from(start).ok()?, after), encoder);
            Some(())
        })
    },
);

pub(crate) static ARRAY_SPLIT: ScalarFunction = function(
    &["array_split(array: dynamic, index: integer|dynamic) -> dynamic"],
    "The array split at the index, or at each index of an array.",
    ResultName::None,
    &[
        example(
            "print a = array_split(dynamic([1, 2, 3, 4, 5]), 2)",
            "a:dynamic\n[[1,2],[3,4,5]]",
        ),
        example(
            "print a = array_split(dynamic([1, 2, 3, 4, 5]), dynamic([1, 3]))",
            "a:dynamic\n[[1],[2,3],[4,5]]",
        ),
    ],
    array_split,
);

pub(crate) static ARRAY_REVERSE: ScalarFunction = function(
    &["array_reverse(array: dynamic) -> dynamic"],
    "The elements in reverse order; null if the argument is not an array.",
    ResultName::None,
    &[example(
        "print a = array_reverse(dynamic([1, 'b']))",
        "a:dynamic\n[\"b\",1]",
    )],
    |args| {
        each(args, |row, encoder| {
            write_array(row.elements(0)?.iter().rev(), encoder);
            Some(())
        })
    },
);

pub(crate) static ARRAY_ROTATE_LEFT: ScalarFunction = function(
    &["array_rotate_left(array: dynamic, count: long) -> dynamic"],
    "The elements rotated to the left: elements shifted out on the left enter on the right.",
    ResultName::None,
    &[example(
        "print a = array_rotate_left(dynamic([1, 2, 3, 4]), 1)",
        "a:dynamic\n[2,3,4,1]",
    )],
    |args| each(args, |row, encoder| rotate(row, row.long(1)?, encoder)),
);

pub(crate) static ARRAY_ROTATE_RIGHT: ScalarFunction = function(
    &["array_rotate_right(array: dynamic, count: long) -> dynamic"],
    "The elements rotated to the right: elements shifted out on the right enter on the left.",
    ResultName::None,
    &[example(
        "print a = array_rotate_right(dynamic([1, 2, 3, 4]), 1)",
        "a:dynamic\n[4,1,2,3]",
    )],
    |args| {
        each(args, |row, encoder| {
            rotate(row, row.long(1)?.checked_neg()?, encoder)
        })
    },
);

pub(crate) static ARRAY_SHIFT_LEFT: ScalarFunction = function(
    &["array_shift_left(array: dynamic, count: long, [fill: any]) -> dynamic"],
    "The elements shifted to the left; vacated positions hold `fill`, by default null.",
    ResultName::None,
    &[example(
        "print a = array_shift_left(dynamic([1, 2, 3, 4]), 2)",
        "a:dynamic\n[3,4,null,null]",
    )],
    |args| each(args, |row, encoder| shift(row, row.long(1)?, encoder)),
);

pub(crate) static ARRAY_SHIFT_RIGHT: ScalarFunction = function(
    &["array_shift_right(array: dynamic, count: long, [fill: any]) -> dynamic"],
    "The elements shifted to the right; vacated positions hold `fill`, by default null.",
    ResultName::None,
    &[example(
        "print a = array_shift_right(dynamic([1, 2, 3]), 1, 0)",
        "a:dynamic\n[0,1,2]",
    )],
    |args| {
        each(args, |row, encoder| {
            shift(row, row.long(1)?.checked_neg()?, encoder)
        })
    },
);

pub(crate) static ARRAY_IFF: ScalarFunction = function(
    &["array_iff(condition: dynamic, when_true: any, when_false: any) -> dynamic"],
    "For each condition, the element of the second array if it is true, else of the third; nonzero numbers are true.",
    ResultName::None,
    &[example(
        "print a = array_iff(dynamic([true, 0, null]), dynamic([1, 2, 3]), 9)",
        "a:dynamic\n[1,9,null]",
    )],
    array_iff,
)
.with_aliases(&["array_iif"]);

pub(crate) static ZIP: ScalarFunction = function(
    &["zip(array1: dynamic, array: dynamic...63) -> dynamic"],
    "An array of arrays: the first elements, the second elements, and so on; null beyond the end of a shorter array.",
    ResultName::None,
    &[example(
        "print a = zip(dynamic([1, 2]), dynamic(['a']))",
        "a:dynamic\n[[1,\"a\"],[2,null]]",
    )],
    zip,
);

fn array_split(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let array = row.elements(0)?;
        let count = i64::try_from(array.len()).ok()?;
        let wanted: Vec<i64> = match row.elements(1) {
            Some(indexes) => indexes.into_iter().filter_map(DynamicRef::as_i64).collect(),
            None => vec![row.long(1)?],
        };
        let mut start = 0;
        encoder.begin_array();
        for at in wanted {
            let at = if at < 0 { at.saturating_add(count) } else { at };
            let end = usize::try_from(at.clamp(0, count)).ok()?.max(start);
            write_array(array.range(start, end), encoder);
            start = end;
        }
        write_array(array.range(start, array.len()), encoder);
        encoder.end();
        Some(())
    })
}

fn rotate(row: Row<'_>, count: i64, encoder: &mut Encoder) -> Option<()> {
    let array = row.elements(0)?;
    let length = i64::try_from(array.len()).ok()?;
    let by = count.checked_rem_euclid(length).unwrap_or(0);
    let by = usize::try_from(by).ok()?;
    let rotated = array.range(by, array.len()).chain(array.range(0, by));
    write_array(rotated, encoder);
    Some(())
}

fn shift(row: Row<'_>, count: i64, encoder: &mut Encoder) -> Option<()> {
    let array = row.elements(0)?;
    let length = i64::try_from(array.len()).ok()?;
    encoder.begin_array();
    for at in 0..length {
        let source = at
            .checked_add(count)
            .and_then(|at| usize::try_from(at).ok());
        match source.and_then(|at| array.get(at)) {
            Some(element) => encoder.dynamic(element),
            None => row.pack(2, encoder),
        }
    }
    encoder.end();
    Some(())
}

fn array_iff(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let conditions = row.elements(0)?;
        let choices = [row.elements(1), row.elements(2)];
        encoder.begin_array();
        for (at, condition) in conditions.into_iter().enumerate() {
            let chosen = match condition.kind() {
                Kind::Bool => condition.as_bool(),
                Kind::Long => condition.as_i64().map(|n| n != 0),
                Kind::Real => condition.as_f64().map(|n| n != 0.0),
                _ => None,
            };
            let Some(chosen) = chosen else {
                encoder.null();
                continue;
            };
            let index = usize::from(!chosen);
            match choices.get(index) {
                Some(Some(array)) => {
                    encoder.dynamic(array.get(at).unwrap_or(DynamicRef::NULL));
                }
                _ => row.pack(index + 1, encoder),
            }
        }
        encoder.end();
        Some(())
    })
}

fn zip(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let arrays = (0..row.len())
            .map(|index| row.elements(index))
            .collect::<Option<Vec<_>>>()?;
        let longest = arrays.iter().map(|array| array.len()).max()?;
        encoder.begin_array();
        for at in 0..longest {
            let elements = arrays.iter().map(|array| array.get(at));
            write_array(elements.map(|e| e.unwrap_or(DynamicRef::NULL)), encoder);
        }
        encoder.end();
        Some(())
    })
}
