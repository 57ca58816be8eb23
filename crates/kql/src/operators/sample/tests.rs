//! Samples are random, and every row is as likely as any other. The seeds are fixed, so the tests do not vary.

use crate::BindOptions;
use crate::random::RandomSource;
use crate::testing::answer_with;

/// The counts in the last column of the answer.
fn counts(query: &str, seed: u64) -> Vec<u32> {
    let options = BindOptions {
        random: RandomSource::seeded(seed),
        ..BindOptions::default()
    };
    let answer = answer_with(query, &options);
    let cells = answer
        .lines()
        .skip(1)
        .filter_map(|l| l.rsplit(" | ").next());
    cells.map(|n| n.parse().expect("a number")).collect()
}

/// Pearson's statistic of counts that are expected to be equal.
fn chi_squared(counts: &[u32]) -> f64 {
    let total: u32 = counts.iter().sum();
    let expected = f64::from(total) / counts.len() as f64;
    let squares = counts
        .iter()
        .map(|n| f64::powi(f64::from(*n) - expected, 2));
    squares.sum::<f64>() / expected
}

#[test]
fn rows_values_and_rows_of_subtables_are_drawn_equally_often() {
    for (query, total) in [
        // Ten numbers in each of 500 subtables.
        (
            "range g from 1 to 500 step 1 | mv-apply n = range(0, 9) to typeof(long) on (sample 3) | summarize count() by n",
            1500,
        ),
        (
            "range g from 1 to 500 step 1 | mv-apply n = range(0, 9) to typeof(long) on (sample-distinct 3 of n) | summarize count() by n",
            1500,
        ),
        // Several batches.
        (
            "range n from 0 to 49999 step 1 | sample 2000 | summarize count() by n / 5000",
            2000,
        ),
        // A value that occurs more often is no more likely.
        (
            "range n from 0 to 49999 step 1 | extend v = iff(n < 1000, n, n % 10 * 100) | sample-distinct 500 of v | summarize count() by v / 100",
            500,
        ),
    ] {
        for seed in [1, 20, 300] {
            let counts = counts(query, seed);
            assert_eq!(counts.iter().sum::<u32>(), total, "{query}");
            assert_eq!(counts.len(), 10, "{query}");
            // Nine degrees of freedom: it is above 27.9 once in a thousand seeds.
            let chi_squared = chi_squared(&counts);
            assert!(chi_squared < 27.9, "{query}: {chi_squared} {counts:?}");
        }
    }
}

#[test]
fn each_use_and_each_seed_draws_other_rows_and_a_seed_repeats_them() {
    let rows = "range n from 1 to 1000000 step 1";
    let twice = format!("let s = {rows} | sample 1; union s, s");
    let twice = counts(&twice, 5);
    assert_ne!(twice.first(), twice.get(1));
    let kept = format!("let s = materialize({rows} | sample 1); union s, s");
    let kept = counts(&kept, 5);
    assert_eq!(kept.first(), kept.get(1));
    for operator in ["sample 3", "sample-distinct 3 of n"] {
        let query = format!("{rows} | {operator}");
        assert_eq!(counts(&query, 1), counts(&query, 1));
        assert_ne!(counts(&query, 1), counts(&query, 2));
    }
}

#[test]
fn a_sample_keeps_whole_rows() {
    let query = "range n from 1 to 30000 step 1 | extend t = strcat('a text of some length with ', n), d = pack('n', n) \
                 | sample 100 | summarize countif(t == strcat('a text of some length with ', n) and toint(d.n) == n)";
    assert_eq!(counts(query, 4), [100]);
    let without_columns = "range n from 1 to 30000 step 1 | sample 100 | count";
    assert_eq!(counts(without_columns, 4), [100]);
}
