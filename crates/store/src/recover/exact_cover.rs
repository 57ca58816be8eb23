//! Picks, of segments that overlap, some that hold each row of all of them exactly once.

use crate::segment::Covers;

/// Attempts until the search gives up. Segments of a real store need about as many as there are segments.
const ATTEMPTS: usize = 10_000;

/// Indexes of covers that do not overlap and together cover what all do. Earlier ones are preferred. `None` if there are none, or if too
/// many combinations would have to be tried.
pub(super) fn exact_cover(covers: &[&Covers]) -> Option<Vec<usize>> {
    let mut all = Covers::default();
    covers.iter().for_each(|one| all.add(one));
    let mut search = Search {
        covers,
        all,
        attempts: ATTEMPTS,
    };
    let mut picked = Vec::new();
    search.complete(&mut picked).then_some(picked)
}

struct Search<'a> {
    covers: &'a [&'a Covers],
    all: Covers,
    attempts: usize,
}

impl Search<'_> {
    /// Adds to `picked` until everything is covered; takes back what leads nowhere.
    fn complete(&mut self, picked: &mut Vec<usize>) -> bool {
        let mut so_far = Covers::default();
        let chosen = picked.iter().filter_map(|index| self.covers.get(*index));
        chosen.for_each(|one| so_far.add(one));
        let Some((hour, sequence)) = self.all.first_outside(&so_far) else {
            return true;
        };
        let place = Covers::of(hour, sequence, sequence);
        for (index, candidate) in self.covers.iter().enumerate() {
            if !candidate.contains(&place) || candidate.overlaps(&so_far) {
                continue;
            }
            if self.attempts == 0 {
                return false;
            }
            self.attempts -= 1;
            picked.push(index);
            if self.complete(picked) {
                return true;
            }
            picked.pop();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn union(parts: &[&Covers]) -> Covers {
        let mut all = Covers::default();
        parts.iter().for_each(|part| all.add(part));
        all
    }

    #[test]
    fn what_was_merged_twice_is_picked_once() {
        let [a, b, c] = [(1, 3), (4, 6), (7, 9)].map(|(min, max)| Covers::of(5, min, max));
        let (first, second) = (union(&[&a, &b]), union(&[&a, &c]));
        assert_eq!(exact_cover(&[&first, &second, &b, &c]), Some(vec![0, 3]));
        assert_eq!(exact_cover(&[&second, &first, &b]), Some(vec![0, 2]));
        assert_eq!(exact_cover(&[&first, &second]), None);
        assert_eq!(exact_cover(&[&a, &b]), Some(vec![0, 1]));
        assert_eq!(exact_cover(&[]), Some(vec![]));
    }
}
