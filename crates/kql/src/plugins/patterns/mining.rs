//! Closed patterns of discrete attributes.
//!
//! A pattern fixes the values of some columns. A pattern is closed if no further column has one value in all of its rows: a
//! column that is the same anyway belongs to the pattern. The dimensions of a pattern are the fewest values that determine its
//! rows. The search is by levels of dimensions, as Apriori's: each closed pattern is extended by one more value and closed
//! again, while its rows have enough weight.

use std::collections::HashSet;

use datafusion::common::{DataFusionError, Result};

use crate::work::CancellationToken;

/// The value of each column, by its number in the column; none where the pattern takes any value.
pub(super) type Pattern = Vec<Option<u32>>;

/// The maximum number of closed patterns.
const MAX_PATTERNS: usize = 20_000;

/// Distinct rows of discrete values with weights.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The number of columns.
    pub(super) width: usize,
    /// The number of each cell's value in its column, row by row.
    pub(super) cells: Vec<u32>,
    /// The weight of each row.
    pub(super) weights: Vec<f64>,
    /// The set of each row: 0, or 1 for the second set of `diffpatterns`.
    pub(super) sides: Vec<usize>,
}

/// A pattern with the weights of its rows in both sets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) pattern: Pattern,
    pub(super) weights: [f64; 2],
}

impl Table {
    /// The values of a row.
    pub(super) fn row(&self, row: usize) -> &[u32] {
        let start = row * self.width;
        self.cells
            .get(start..start + self.width)
            .unwrap_or_default()
    }

    /// The rows, in order.
    pub(super) fn rows(&self) -> Vec<usize> {
        (0..self.weights.len()).collect()
    }

    /// The weight of a row.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or_default()
    }

    /// The weights of rows in both sets.
    pub(super) fn weigh(&self, rows: &[usize]) -> [f64; 2] {
        let mut weights = [0.0; 2];
        for row in rows {
            let side = self.sides.get(*row).copied().unwrap_or_default();
            if let Some(sum) = weights.get_mut(side) {
                *sum += self.weight(*row);
            }
        }
        weights
    }

    /// Whether a row has the values of a pattern.
    pub(super) fn matches(&self, row: usize, pattern: &[Option<u32>]) -> bool {
        let cells = self.row(row).iter().zip(pattern);
        cells
            .into_iter()
            .all(|(cell, value)| value.is_none_or(|value| value == *cell))
    }

    /// The values that all rows have.
    fn closure(&self, rows: &[usize]) -> Pattern {
        let Some((first, rest)) = rows.split_first() else {
            return vec![None; self.width];
        };
        let mut pattern: Pattern = self.row(*first).iter().copied().map(Some).collect();
        for row in rest {
            for (value, cell) in pattern.iter_mut().zip(self.row(*row)) {
                if *value != Some(*cell) {
                    *value = None;
                }
            }
        }
        pattern
    }

    /// The rows of a pattern by the values of a column that it leaves open.
    fn split(&self, rows: &[usize], column: usize) -> Vec<Vec<usize>> {
        let mut parts: std::collections::BTreeMap<u32, Vec<usize>> = Default::default();
        for row in rows {
            if let Some(cell) = self.row(*row).get(column) {
                parts.entry(*cell).or_default().push(*row);
            }
        }
        parts.into_values().collect()
    }

    /// The closed patterns of at most `dimensions` dimensions whose weights `are_enough`. Fewer rows must not become enough.
    ///
    /// # Errors
    /// The query is cancelled, or there are too many patterns.
    pub(super) fn closed(
        &self,
        dimensions: usize,
        are_enough: impl Fn([f64; 2]) -> bool,
        cancellation: &CancellationToken,
    ) -> Result<Vec<Found>> {
        let all = self.rows();
        let weights = self.weigh(&all);
        if !are_enough(weights) {
            return Ok(Vec::new());
        }
        let root = Found {
            pattern: self.closure(&all),
            weights,
        };
        let mut seen: HashSet<Pattern> = HashSet::from([root.pattern.clone()]);
        let mut found = vec![root];
        let mut level = 0..1;
        for _ in 0..dimensions {
            for index in level.clone() {
                let Some(pattern) = found.get(index).map(|found| found.pattern.clone()) else {
                    continue;
                };
                let rows: Vec<usize> = all
                    .iter()
                    .copied()
                    .filter(|row| self.matches(*row, &pattern))
                    .collect();
                let open = pattern
                    .iter()
                    .enumerate()
                    .filter(|(_, value)| value.is_none());
                for (column, _) in open {
                    cancellation.check()?;
                    for part in self.split(&rows, column) {
                        let weights = self.weigh(&part);
                        if !are_enough(weights) {
                            continue;
                        }
                        let pattern = self.closure(&part);
                        if seen.insert(pattern.clone()) {
                            found.push(Found { pattern, weights });
                        }
                    }
                }
                if found.len() > MAX_PATTERNS {
                    let message = format!(
                        "the rows have more than {MAX_PATTERNS} patterns: raise the threshold, or project fewer columns"
                    );
                    return Err(DataFusionError::Execution(message));
                }
            }
            if level.end == found.len() {
                break;
            }
            level = level.end..found.len();
        }
        // A pattern without a value says nothing.
        found.retain(|found| found.pattern.iter().any(Option::is_some));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&[u32], f64)]) -> Table {
        Table {
            width: rows.first().map_or(0, |row| row.0.len()),
            cells: rows.iter().flat_map(|row| row.0.to_vec()).collect(),
            weights: rows.iter().map(|row| row.1).collect(),
            sides: vec![0; rows.len()],
        }
    }

    fn patterns(table: &Table, dimensions: usize, least: f64) -> Vec<(Pattern, f64)> {
        let enough = |weights: [f64; 2]| weights[0] >= least;
        let found = table.closed(dimensions, enough, &CancellationToken::current());
        let found = found.expect("it is not cancelled").into_iter();
        found
            .map(|found| (found.pattern, found.weights[0]))
            .collect()
    }

    #[test]
    fn a_column_that_is_the_same_anyway_belongs_to_the_pattern() {
        // The second column is 7 wherever the first is 1.
        let table = table(&[(&[1, 7], 3.0), (&[2, 7], 2.0), (&[2, 8], 1.0)]);
        let mut found = patterns(&table, 5, 2.0);
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(
            found,
            [
                (vec![None, Some(7)], 5.0),
                (vec![Some(1), Some(7)], 3.0),
                (vec![Some(2), None], 3.0),
                (vec![Some(2), Some(7)], 2.0),
            ]
        );
    }

    #[test]
    fn the_dimensions_limit_the_values_that_determine_the_rows() {
        let table = table(&[
            (&[1, 1], 1.0),
            (&[1, 2], 1.0),
            (&[2, 1], 1.0),
            (&[2, 2], 1.0),
        ]);
        assert_eq!(patterns(&table, 1, 1.0).len(), 4);
        assert_eq!(patterns(&table, 2, 1.0).len(), 8);
    }
}
