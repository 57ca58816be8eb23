//! The group of each row by the numbers of its keys.

use datafusion::common::{Result, exec_err};
use hashbrown::HashMap;

use super::keys::Numbers;

/// A pair of numbers without a group.
const NONE: u32 = u32::MAX;
/// The most places of a table of pairs; beyond them pairs are looked up by hash.
const MAX_PLACES: usize = 1 << 20;

/// Groups by two numbers: that of the group of the keys before, and that of the next key.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// The group of each pair, at `first * stride + second`; empty if pairs are looked up by hash.
    table: Vec<u32>,
    stride: usize,
    by_hash: HashMap<(u32, u32), u32>,
    is_hashed: bool,
    /// The pair of each group.
    pairs: Vec<(u32, u32)>,
}

impl Pairs {
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Bytes.
    pub(super) fn size(&self) -> usize {
        self.table.capacity() * 4 + self.by_hash.capacity() * 16 + self.pairs.capacity() * 8
    }

    pub(super) fn pair(&self, group: u32) -> (u32, u32) {
        self.pairs.get(group as usize).copied().unwrap_or((0, 0))
    }

    /// Replaces `first`, the numbers of rows of which there are `firsts`, by the groups of their pairs with `second`, of which there
    /// are `seconds`.
    pub(super) fn combine(
        &mut self,
        first: (&mut Vec<u32>, Numbers, usize),
        second: (&[u32], Numbers, usize),
    ) -> Result<Numbers> {
        let (rows, first, firsts) = first;
        let (others, second, seconds) = second;
        self.make_room(firsts, seconds);
        Ok(match (first, second) {
            (Numbers::Same(first), Numbers::Same(second)) => {
                Numbers::Same(self.group(first, second)?)
            }
            (Numbers::Rows, Numbers::Same(second)) => {
                for row in rows.iter_mut() {
                    *row = self.group(*row, second)?;
                }
                Numbers::Rows
            }
            (Numbers::Same(first), Numbers::Rows) => {
                rows.clear();
                for second in others {
                    rows.push(self.group(first, *second)?);
                }
                Numbers::Rows
            }
            (Numbers::Rows, Numbers::Rows) => {
                for (row, second) in rows.iter_mut().zip(others) {
                    *row = self.group(*row, *second)?;
                }
                Numbers::Rows
            }
        })
    }

    #[inline]
    fn group(&mut self, first: u32, second: u32) -> Result<u32> {
        let place = first as usize * self.stride + second as usize;
        match self.table.get(place) {
            Some(group) if *group != NONE => Ok(*group),
            _ => self.find(first, second),
        }
    }

    #[cold]
    fn find(&mut self, first: u32, second: u32) -> Result<u32> {
        let next = match u32::try_from(self.pairs.len()) {
            Ok(next) if next < NONE => next,
            _ => return exec_err!("too many groups"),
        };
        let found = if self.is_hashed {
            *self.by_hash.entry((first, second)).or_insert(next)
        } else {
            let place = first as usize * self.stride + second as usize;
            let place = self.table.get_mut(place);
            let Some(place) = place else {
                return exec_err!("a pair of keys has no place");
            };
            *place = next;
            next
        };
        if found == next {
            self.pairs.push((first, second));
        }
        Ok(found)
    }

    /// Makes room for pairs of numbers below these.
    fn make_room(&mut self, firsts: usize, seconds: usize) {
        if self.is_hashed {
            return;
        }
        let stride = if seconds > self.stride {
            seconds.next_power_of_two()
        } else {
            self.stride
        };
        let places = firsts.next_power_of_two().saturating_mul(stride);
        if places > MAX_PLACES {
            self.table = Vec::new();
            // No pair has a place beyond an empty table.
            self.stride = 0;
            self.is_hashed = true;
            self.by_hash = (0..)
                .zip(&self.pairs)
                .map(|(group, pair)| (*pair, group))
                .collect();
        } else if stride > self.stride {
            self.stride = stride;
            self.table = vec![NONE; places];
            for (group, (first, second)) in (0..).zip(&self.pairs) {
                let place = *first as usize * stride + *second as usize;
                if let Some(place) = self.table.get_mut(place) {
                    *place = group;
                }
            }
        } else if places > self.table.len() {
            self.table.resize(places, NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The groups of pairs of numbers, each of which is below its count.
    fn groups(pairs: &mut Pairs, rows: &[(u32, u32)]) -> Vec<u32> {
        let (mut first, second): (Vec<u32>, Vec<u32>) = rows.iter().copied().unzip();
        let count = |numbers: &[u32]| numbers.iter().max().map_or(0, |max| *max as usize + 1);
        let (firsts, seconds) = (count(&first), count(&second));
        let numbers = pairs.combine(
            (&mut first, Numbers::Rows, firsts),
            (&second, Numbers::Rows, seconds),
        );
        assert_eq!(numbers.expect("grouped"), Numbers::Rows);
        first
    }

    #[test]
    fn pairs_keep_their_groups_when_the_table_grows_and_when_it_becomes_a_map() {
        let mut pairs = Pairs::default();
        assert_eq!(groups(&mut pairs, &[(0, 0), (1, 0), (0, 0)]), [0, 1, 0]);
        assert_eq!(groups(&mut pairs, &[(0, 9), (5, 0), (1, 0)]), [2, 3, 1]);
        assert!(!pairs.is_hashed);
        assert_eq!(
            groups(&mut pairs, &[(900_000, 7), (0, 9), (5, 0), (2, 2)]),
            [4, 2, 3, 5]
        );
        assert!(pairs.is_hashed && pairs.table.is_empty());
        assert_eq!(groups(&mut pairs, &[(900_000, 7), (900_000, 8)]), [4, 6]);
        assert_eq!(pairs.pair(4), (900_000, 7));
        assert_eq!(pairs.len(), 7);
    }

    #[test]
    fn numbers_that_all_rows_have_make_one_group() {
        let mut pairs = Pairs::default();
        let (same, mut rows) = (Numbers::Same, Vec::new());
        let both = pairs.combine((&mut rows, same(3), 4), (&[], same(1), 2));
        assert_eq!(both.expect("grouped"), same(0));
        let one = pairs.combine((&mut rows, same(3), 4), (&[0, 1], Numbers::Rows, 2));
        assert_eq!(one.expect("grouped"), Numbers::Rows);
        assert_eq!(rows, [1, 0]);
    }
}
