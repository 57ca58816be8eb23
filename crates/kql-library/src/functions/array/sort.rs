//! `array_sort_asc` and `array_sort_desc` (`docs/semantics.md §9.7`).

use std::cmp::Ordering;

use hindsight_kql_types::DynamicRef;
use hindsight_kql_types::dynamic::Kind;

use crate::dynamic::rows::{Row, each, write_array};
use crate::functions::prelude::*;

pub(crate) static ARRAY_SORT_ASC: ScalarFunction = function(
    &[
        "array_sort_asc(array: dynamic, arrays: any...) -> dynamic",
        "array_sort_asc(array: dynamic) -> dynamic",
    ],
    "The elements in ascending order, nulls last unless the last argument is false; further arrays take the same order, in a column each.",
    ResultName::Suffixed("sorted"),
    &[
        example(
            "print a = array_sort_asc(dynamic([3, null, 1]))",
            "a:dynamic\n[1,3,null]",
        ),
        example(
            "print n = dynamic([2, 1]), s = dynamic(['b', 'a']) | project array_sort_asc(n, s)",
            "n_sorted:dynamic, s_sorted:dynamic\n[1,2] | [\"a\",\"b\"]",
        ),
        example(
            "print n = dynamic([2, 1]), s = dynamic(['b', 'a']) | project second = array_sort_asc(n, s)[1]",
            "second:dynamic\n[\"a\",\"b\"]",
        ),
    ],
    |args| sort_first(args, false),
);

pub(crate) static ARRAY_SORT_DESC: ScalarFunction = function(
    &[
        "array_sort_desc(array: dynamic, arrays: any...) -> dynamic",
        "array_sort_desc(array: dynamic) -> dynamic",
    ],
    "The elements in descending order, nulls last unless the last argument is false; further arrays take the same order, in a column each.",
    ResultName::Suffixed("sorted"),
    &[example(
        "print a = array_sort_desc(dynamic(['x', null, 'y']), false)",
        "a:dynamic\n[null,\"y\",\"x\"]",
    )],
    |args| sort_first(args, true),
);

fn sort_first(args: &KernelArgs<'_>, descending: bool) -> KernelResult {
    each(args, |row, encoder| {
        let array = row.array(0)?;
        let order = order(&array, descending, nulls_last(args, row));
        write_array(
            order.into_iter().filter_map(|at| array.get(at).copied()),
            encoder,
        );
        Some(())
    })
}

/// Sorts the first array and permutes the others alike, as an array of arrays; an array of a different length becomes null.
pub(crate) fn sort_all(args: &KernelArgs<'_>, descending: bool) -> KernelResult {
    let arrays: Vec<usize> = (0..args.len())
        .filter(|index| args.kind(*index) == ScalarType::Dynamic)
        .collect();
    each(args, |row, encoder| {
        let first = row.array(0)?;
        let order = order(&first, descending, nulls_last(args, row));
        encoder.begin_array();
        for index in &arrays {
            match same_length(row, *index, order.len()) {
                Some(array) => {
                    write_array(
                        order.iter().filter_map(|at| array.get(*at).copied()),
                        encoder,
                    );
                }
                None => encoder.null(),
            }
        }
        encoder.end();
        Some(())
    })
}

fn same_length(row: Row<'_>, index: usize, length: usize) -> Option<Vec<DynamicRef<'_>>> {
    row.array(index).filter(|array| array.len() == length)
}

/// Whether nulls come last: the optional trailing bool, by default true.
fn nulls_last(args: &KernelArgs<'_>, row: Row<'_>) -> bool {
    match args.len().checked_sub(1) {
        Some(last) if args.kind(last) == ScalarType::Bool => row.bool(last).unwrap_or(true),
        _ => true,
    }
}

/// The sorted positions. Types are sorted separately: numbers and times, then strings, then all others, which keep their
/// relative order.
fn order(array: &[DynamicRef<'_>], descending: bool, nulls_last: bool) -> Vec<usize> {
    let mut known: Vec<usize> = (0..array.len()).filter(|at| !null_at(array, *at)).collect();
    let nulls = (0..array.len()).filter(|at| null_at(array, *at));
    known.sort_by(|a, b| {
        let order = match (array.get(*a), array.get(*b)) {
            (Some(a), Some(b)) => compare(*a, *b),
            _ => Ordering::Equal,
        };
        if descending { order.reverse() } else { order }
    });
    if nulls_last {
        known.into_iter().chain(nulls).collect()
    } else {
        nulls.chain(known).collect()
    }
}

fn null_at(array: &[DynamicRef<'_>], at: usize) -> bool {
    array.get(at).is_none_or(|element| element.is_null())
}

fn compare(a: DynamicRef<'_>, b: DynamicRef<'_>) -> Ordering {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.cmp(&b);
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return a.total_cmp(&b);
    }
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a.cmp(b),
        _ => (rank(a), a.as_bool()).cmp(&(rank(b), b.as_bool())),
    }
}

fn rank(value: DynamicRef<'_>) -> u8 {
    match value.kind() {
        Kind::Long | Kind::Real | Kind::DateTime => 0,
        Kind::String => 1,
        _ => 2,
    }
}

fn number(value: DynamicRef<'_>) -> Option<f64> {
    let whole = value.as_i64().or_else(|| value.as_datetime());
    whole.map(|n| n as f64).or_else(|| value.as_f64())
}
