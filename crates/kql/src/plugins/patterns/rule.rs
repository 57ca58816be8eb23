//! Which of the closed patterns a plug-in returns, and in which order.

use std::cmp::Ordering;

use datafusion::common::Result;

use super::mining::{Found, Pattern, Table};
use crate::work::CancellationToken;

/// Two patterns are about the same if they share this part of the rows of one of them.
const SAME: f64 = 0.9;

/// The rule of a plug-in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::plugins) enum Rule {
    /// `basket`: all patterns of at least a share of the rows, the most frequent first.
    Basket {
        /// The share.
        threshold: f64,
        /// The maximum number of dimensions.
        dimensions: usize,
    },
    /// `autocluster`: patterns of the most frequent rows that are both frequent and specific.
    AutoCluster {
        /// The weight of frequency, from 0 to 1; the rest is that of the number of values.
        size: f64,
        /// The number of rows to start from.
        seeds: usize,
    },
    /// `diffpatterns`: patterns whose shares of the two sets differ, the largest difference first.
    Difference {
        /// The least difference of the shares.
        threshold: f64,
        /// The maximum number of dimensions.
        dimensions: usize,
    },
}

impl Rule {
    /// The patterns in a table.
    ///
    /// # Errors
    /// The query is cancelled, or there are too many patterns.
    pub(super) fn patterns(
        self,
        table: &Table,
        cancellation: &CancellationToken,
    ) -> Result<Vec<Found>> {
        let totals = table.weigh(&table.rows());
        match self {
            Rule::Basket {
                threshold,
                dimensions,
            } => {
                let least = threshold * totals[0];
                let mut found = table.closed(
                    dimensions,
                    |weights| weights[0] > 0.0 && weights[0] >= least,
                    cancellation,
                )?;
                found.sort_by(most_frequent);
                Ok(found)
            }
            Rule::AutoCluster { size, seeds } => clusters(table, size, seeds, cancellation),
            Rule::Difference {
                threshold,
                dimensions,
            } => differences(table, threshold, dimensions, cancellation),
        }
    }
}

fn most_frequent(a: &Found, b: &Found) -> Ordering {
    let weight = |found: &Found| found.weights[0] + found.weights[1];
    weight(b)
        .total_cmp(&weight(a))
        .then_with(|| a.pattern.cmp(&b.pattern))
}

/// Patterns by the difference of their shares. A pattern is left out if it is about the same as one with a larger difference.
fn differences(
    table: &Table,
    threshold: f64,
    dimensions: usize,
    cancellation: &CancellationToken,
) -> Result<Vec<Found>> {
    let totals = table.weigh(&table.rows());
    let share = |weight: f64, total: f64| if total > 0.0 { weight / total } else { 0.0 };
    let shares = |weights: [f64; 2]| [share(weights[0], totals[0]), share(weights[1], totals[1])];
    let difference = |found: &Found| {
        let [a, b] = shares(found.weights);
        (a - b).abs()
    };
    // No pattern differs by more than its larger share.
    let may_differ = |weights| {
        let [a, b] = shares(weights);
        a.max(b) >= threshold
    };
    let mut found = table.closed(dimensions, may_differ, cancellation)?;
    found.retain(|found| difference(found) >= threshold);
    found.sort_by(|a, b| {
        let order = difference(b).total_cmp(&difference(a));
        order.then_with(|| most_frequent(a, b))
    });
    let mut kept: Vec<Found> = Vec::new();
    for pattern in found {
        cancellation.check()?;
        if !kept
            .iter()
            .any(|larger| about_the_same(table, &pattern, larger))
        {
            kept.push(pattern);
        }
    }
    Ok(kept)
}

/// Whether two patterns share most of the rows of one of them.
fn about_the_same(table: &Table, a: &Found, b: &Found) -> bool {
    let weight = |found: &Found| found.weights[0] + found.weights[1];
    let both = common(table, &a.pattern, &b.pattern);
    both >= SAME * weight(a).min(weight(b))
}

/// The weight of the rows that two patterns share.
fn common(table: &Table, a: &Pattern, b: &Pattern) -> f64 {
    let rows = table.rows().into_iter();
    let shared = rows.filter(|row| table.matches(*row, a) && table.matches(*row, b));
    shared.map(|row| table.weight(row)).sum()
}

/// The pattern of each of the most frequent rows with the best score. The score is the geometric mean of the share of the
/// rows and the share of the columns with a value, weighted by `size`. A pattern starts with all values of the row, and drops
/// one after the other, each time the one that adds the most rows. Of the patterns, the best come first; a pattern that
/// shares most of the rows of a better one, or most of whose rows a better one has, is left out.
fn clusters(
    table: &Table,
    size: f64,
    seeds: usize,
    cancellation: &CancellationToken,
) -> Result<Vec<Found>> {
    let totals = table.weigh(&table.rows());
    let score = |found: &Found| {
        let values = found.pattern.iter().flatten().count() as f64;
        let share = found.weights[0] / totals[0];
        share.powf(size) * (values / table.width as f64).powf(1.0 - size)
    };
    let mut rows = table.rows();
    rows.sort_by(|a, b| {
        let order = table.weight(*b).total_cmp(&table.weight(*a));
        order.then_with(|| table.row(*a).cmp(table.row(*b)))
    });
    let mut found: Vec<Found> = Vec::new();
    for seed in rows
        .into_iter()
        .take(seeds)
        .filter(|row| table.weight(*row) > 0.0)
    {
        let mut pattern: Pattern = table.row(seed).iter().copied().map(Some).collect();
        let mut best: Option<Found> = None;
        while pattern.iter().any(Option::is_some) {
            cancellation.check()?;
            let (weights, without) = weights_without(table, &pattern);
            let now = Found {
                pattern: pattern.clone(),
                weights: [weights, 0.0],
            };
            if best.as_ref().is_none_or(|best| score(&now) > score(best)) {
                best = Some(now);
            }
            let dropped = without
                .into_iter()
                .reduce(|most, next| if next.1 > most.1 { next } else { most });
            if let Some(value) = dropped.and_then(|(column, _)| pattern.get_mut(column)) {
                *value = None;
            }
        }
        found.extend(best.filter(|best| !found.contains(best)));
    }
    found.sort_by(|a, b| {
        let order = score(b).total_cmp(&score(a));
        order.then_with(|| most_frequent(a, b))
    });
    let mut kept: Vec<Found> = Vec::new();
    for pattern in found {
        let weight = |found: &Found| found.weights[0];
        let is_known = kept.iter().any(|better| {
            common(table, &pattern.pattern, &better.pattern)
                >= 0.5 * weight(&pattern).min(weight(better))
        });
        if !is_known {
            kept.push(pattern);
        }
    }
    Ok(kept)
}

/// The weight of a pattern, and for each of its columns the weight of the pattern without the column's value.
fn weights_without(table: &Table, pattern: &Pattern) -> (f64, Vec<(usize, f64)>) {
    let mut weight = 0.0;
    let columns = pattern.iter().enumerate();
    let columns = columns.filter(|(_, value)| value.is_some());
    let mut without: Vec<(usize, f64)> = columns.map(|(column, _)| (column, 0.0)).collect();
    for row in table.rows() {
        let cells = table.row(row).iter().zip(pattern).enumerate();
        let mut other = cells.filter(|(_, (cell, value))| value.is_some_and(|v| v != **cell));
        match (other.next(), other.next()) {
            (None, _) => weight += table.weight(row),
            (Some((column, _)), None) => {
                if let Some(sum) = without.iter_mut().find(|sum| sum.0 == column) {
                    sum.1 += table.weight(row);
                }
            }
            _ => {}
        }
    }
    (weight, without)
}
