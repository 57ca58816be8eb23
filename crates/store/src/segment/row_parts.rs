//! Which parts of a segment's rows a scan reads.

use std::ops::Range;

use parquet::arrow::arrow_reader::{RowSelection, RowSelector};

/// Consecutive parts of a segment: how many rows each has, and whether one of them may match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowParts(pub(super) Vec<(usize, bool)>);

impl RowParts {
    /// Whether no row can match.
    pub(crate) fn is_empty(&self) -> bool {
        !self.0.iter().any(|(_, matches)| *matches)
    }

    /// Parts of the same rows of which those may match that may match here and in `other`.
    pub(super) fn and(&self, other: &RowParts) -> RowParts {
        let (mut ones, mut others) = (self.0.iter().copied(), other.0.iter().copied());
        let (mut one, mut other) = (ones.next(), others.next());
        let mut parts = Vec::new();
        while let (Some((left, matches)), Some((left_of_other, other_matches))) = (one, other) {
            let rows = left.min(left_of_other);
            parts.push((rows, matches && other_matches));
            let rest = |left, matches| (left > rows).then(|| (left - rows, matches));
            one = rest(left, matches).or_else(|| ones.next());
            other = rest(left_of_other, other_matches).or_else(|| others.next());
        }
        RowParts(parts)
    }

    /// The rows of the parts of which one may match.
    pub(crate) fn ranges(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let ranges = self.0.iter().map(|(rows, matches)| {
            let begin = end;
            end += rows;
            (begin..end, *matches)
        });
        let matching = ranges.filter(|(_, matches)| *matches);
        matching.map(|(range, _)| range).collect()
    }

    /// The rows that are read. `None` for all: also where most may match, because a selection keeps a scan from leaving out row groups
    /// while it runs.
    pub(crate) fn selection(&self) -> Option<RowSelection> {
        let rows = |parts: &mut dyn Iterator<Item = &(usize, bool)>| -> usize {
            parts.map(|(rows, _)| rows).sum()
        };
        let matching = rows(&mut self.0.iter().filter(|(_, matches)| *matches));
        if matching > rows(&mut self.0.iter()) / 2 {
            return None;
        }
        let selectors = self.0.iter().map(|(rows, matches)| RowSelector {
            row_count: *rows,
            skip: !*matches,
        });
        // The conversion joins neighbouring selectors of one kind.
        Some(RowSelection::from(selectors.collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_rows() {
        let check = |parts: &[(usize, bool)], expected: Option<&[(bool, usize)]>| {
            let parts = RowParts(parts.to_vec());
            let selection = parts.selection();
            let selectors = selection.as_ref().map(|s| s.iter().collect::<Vec<_>>());
            let found = selectors.map(|s| s.iter().map(|s| (s.skip, s.row_count)).collect());
            assert_eq!(found, expected.map(<[_]>::to_vec), "{parts:?}");
        };
        check(&[(8, true), (1, false)], None);
        check(
            &[(8, false), (4, true), (4, true)],
            Some(&[(true, 8), (false, 8)]),
        );
        check(&[(4, true), (5, false)], Some(&[(false, 4), (true, 5)]));
        check(&[(5, false)], Some(&[(true, 5)]));
        let blocks = RowParts(vec![(3, true), (3, false), (3, true), (1, true)]);
        let groups = RowParts(vec![(4, true), (4, false), (2, true)]);
        let both = vec![
            (3, true),
            (1, false),
            (2, false),
            (2, false),
            (1, true),
            (1, true),
        ];
        assert_eq!(blocks.and(&groups), RowParts(both.clone()));
        assert_eq!(groups.and(&blocks), RowParts(both));
        assert_eq!(groups.ranges(), [0..4, 8..10]);
        assert!(RowParts(vec![(5, false)]).is_empty() && RowParts(vec![]).is_empty());
        assert!(!RowParts(vec![(5, false), (1, true)]).is_empty());
    }
}
