//! Set functions on arrays: distinct elements in order of first appearance.

use std::collections::HashSet;

use hindsight_kql_types::{DynamicRef, Encoder};

use super::read::same;
use crate::dynamic::rows::{Row, each, with_rows, write_array};
use crate::functions::prelude::*;

pub(crate) static SET_UNION: ScalarFunction = function(
    &["set_union(set1: dynamic, set: dynamic...63) -> dynamic"],
    "The distinct elements of all arrays.",
    ResultName::None,
    &[example(
        "print s = set_union(dynamic([1, 2, 2]), dynamic([3, 1]))",
        "s:dynamic\n[1,2,3]",
    )],
    |args| {
        each(args, |row, encoder| {
            let sets = sets(row)?;
            let mut seen = HashSet::new();
            let all = sets.into_iter().flatten();
            write_array(all.filter(|e| seen.insert(identity(*e))), encoder);
            Some(())
        })
    },
);

pub(crate) static SET_INTERSECT: ScalarFunction = function(
    &["set_intersect(set1: dynamic, set: dynamic...63) -> dynamic"],
    "The distinct elements that are in every array.",
    ResultName::None,
    &[example(
        "print s = set_intersect(dynamic([1, 2, 3]), dynamic([3, 2]))",
        "s:dynamic\n[2,3]",
    )],
    |args| {
        each(args, |row, encoder| {
            filtered(row, encoder, |in_first_other, others| {
                in_first_other == others
            })
        })
    },
);

pub(crate) static SET_DIFFERENCE: ScalarFunction = function(
    &["set_difference(set1: dynamic, set: dynamic...63) -> dynamic"],
    "The distinct elements of the first array that are in no other.",
    ResultName::None,
    &[example(
        "print s = set_difference(dynamic([1, 2, 3]), dynamic([2]), dynamic([3]))",
        "s:dynamic\n[1]",
    )],
    |args| {
        each(args, |row, encoder| {
            filtered(row, encoder, |in_others, _| in_others == 0)
        })
    },
);

pub(crate) static SET_HAS_ELEMENT: ScalarFunction = function(
    &["set_has_element(set: dynamic, value: any) -> bool"],
    "Whether the value is an element of the array; text never equals a number.",
    ResultName::None,
    &[
        example(
            "print b = set_has_element(dynamic([1, 2]), 2)",
            "b:bool\ntrue",
        ),
        example(
            "print b = set_has_element(dynamic([1, 2]), '2')",
            "b:bool\nfalse",
        ),
    ],
    set_has_element,
);

pub(crate) static SET_EQUALS: ScalarFunction = function(
    &["set_equals(set1: dynamic, set2: dynamic) -> bool"],
    "Whether both arrays have the same elements, in any order.",
    ResultName::None,
    &[example(
        "print b = set_equals(dynamic([1, 2, 2]), dynamic([2, 1]))",
        "b:bool\ntrue",
    )],
    |args| {
        with_rows(
            args,
            |answer| args.collect_bools(answer),
            |row| Some(set(row, 0)? == set(row, 1)?),
        )
    },
);

pub(crate) static JACCARD_INDEX: ScalarFunction = function(
    &["jaccard_index(set1: dynamic, set2: dynamic) -> real"],
    "The number of common distinct elements divided by the number of all distinct elements.",
    ResultName::None,
    &[example(
        "print j = jaccard_index(dynamic([1, 2, 3]), dynamic([2, 3, 4]))",
        "j:real\n0.5",
    )],
    |args| {
        with_rows(
            args,
            |index| args.collect_reals(index),
            |row| {
                let (a, b) = (set(row, 0)?, set(row, 1)?);
                let (common, all) = (a.intersection(&b).count(), a.union(&b).count());
                Some(common as f64 / all as f64)
            },
        )
    },
);

/// The equality key of an element: numbers compare by value, all other elements by type and text.
fn identity(element: DynamicRef<'_>) -> String {
    match (element.as_i64(), element.as_f64()) {
        (None, Some(real)) if real.fract() == 0.0 && real.abs() < 9e15 => (real as i64).to_string(),
        _ => element.to_canonical_json(),
    }
}

fn set(row: Row<'_>, index: usize) -> Option<HashSet<String>> {
    Some(row.array(index)?.into_iter().map(identity).collect())
}

fn sets(row: Row<'_>) -> Option<Vec<Vec<DynamicRef<'_>>>> {
    (0..row.len()).map(|index| row.array(index)).collect()
}

/// The distinct elements of the first array for which `keep` holds. `keep` receives the number of other arrays that contain
/// the element, and the number of other arrays.
fn filtered(
    row: Row<'_>,
    encoder: &mut Encoder,
    keep: impl Fn(usize, usize) -> bool,
) -> Option<()> {
    let first = row.array(0)?;
    let others = (1..row.len())
        .map(|index| set(row, index))
        .collect::<Option<Vec<_>>>()?;
    let mut seen = HashSet::new();
    let kept = first.into_iter().filter(|element| {
        let identity = identity(*element);
        let found = others.iter().filter(|set| set.contains(&identity)).count();
        keep(found, others.len()) && seen.insert(identity)
    });
    write_array(kept, encoder);
    Some(())
}

fn set_has_element(args: &KernelArgs<'_>) -> KernelResult {
    let mut encoder = encoder();
    with_rows(
        args,
        |answer| args.collect_bools(answer),
        |row| {
            let array = row.elements(0)?;
            let wanted = row.packed(1, &mut encoder)?;
            let wanted = DynamicRef::new(&wanted);
            Some(array.into_iter().any(|element| same(element, wanted)))
        },
    )
}
