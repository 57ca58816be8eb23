//! `dcount_hll` and `hll_merge`: read and merge the states of the aggregate `hll` (`docs/semantics.md §16.7`).

use crate::dynamic::rows::{each, with_rows};
use crate::functions::prelude::*;
use crate::states::hyperloglog::HyperLogLog;

pub(crate) static DCOUNT_HLL: ScalarFunction = function(
    &["dcount_hll(hll: dynamic) -> long"],
    "The estimated number of distinct values in a state of `hll` or `hll_merge`.",
    ResultName::Prefixed("dcount_hll"),
    &[example(
        "range x from 1 to 5 step 1 | summarize h = hll(x) | project n = dcount_hll(h)",
        "n:long\n5",
    )],
    |args| {
        with_rows(
            args,
            |count| args.collect_longs(count),
            |row| HyperLogLog::read(row.dynamic(0)).map(|set| set.count()),
        )
    },
);

pub(crate) static HLL_MERGE: ScalarFunction = function(
    &["hll_merge(hll1: dynamic, hll: dynamic...15) -> dynamic"],
    "The union of states of `hll`.",
    ResultName::Fixed("hll_merged_result"),
    &[example(
        "range x from 1 to 5 step 1 | summarize a = hll(x), b = hll(x + 2) | project n = dcount_hll(hll_merge(a, b))",
        "n:long\n7",
    )],
    |args| {
        each(args, |row, encoder| {
            let states = (0..row.len()).filter_map(|index| HyperLogLog::read(row.dynamic(index)));
            let union = states.reduce(|union, set| union.union(&set))?;
            union.write(encoder);
            Some(())
        })
    },
);
