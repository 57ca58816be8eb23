//! The random numbers of operators that draw rows (`sample`, `sample-distinct`): the system's, or in tests those of a seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Where the operators of a query get their random numbers.
///
/// Each evaluation of an operator gets a generator of its own, so a sample that a query names twice is drawn twice
/// (`docs/semantics.md §14.2`).
#[derive(Debug, Clone, Default)]
pub struct RandomSource(Origin);

#[derive(Debug, Clone, Default)]
enum Origin {
    #[default]
    System,
    /// The seed of the next generator.
    Seed(Arc<AtomicU64>),
}

impl RandomSource {
    /// The same generators in the same order for the same seed.
    pub fn seeded(seed: u64) -> RandomSource {
        RandomSource(Origin::Seed(Arc::new(AtomicU64::new(seed))))
    }

    /// A generator for one evaluation.
    pub(crate) fn generator(&self) -> StdRng {
        match &self.0 {
            Origin::System => StdRng::from_rng(&mut rand::rng()),
            Origin::Seed(next) => StdRng::seed_from_u64(next.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// `count` distinct numbers below `bound`, ascending; each set of `count` numbers is equally likely. All numbers below
    /// `bound` if they are not more.
    ///
    /// This is Floyd's algorithm, which draws exactly one number for each member of the set.
    pub fn choose(&self, count: u64, bound: u64) -> Vec<u64> {
        if count >= bound {
            return (0..bound).collect();
        }
        let mut generator = self.generator();
        let mut chosen = std::collections::BTreeSet::new();
        for last in bound - count..bound {
            let number = generator.random_range(0..=last);
            if !chosen.insert(number) {
                chosen.insert(last);
            }
        }
        chosen.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_numbers_is_equally_likely() {
        let random = RandomSource::seeded(1);
        let mut times = std::collections::BTreeMap::new();
        for _ in 0..10_000 {
            *times.entry(random.choose(2, 5)).or_insert(0) += 1;
        }
        // Ten pairs, so nine degrees of freedom: chi-squared is above 27.9 once in a thousand seeds.
        assert_eq!(times.len(), 10);
        let chi_squared: f64 = times
            .values()
            .map(|n| f64::powi(f64::from(*n) - 1000.0, 2) / 1000.0)
            .sum();
        assert!(chi_squared < 27.9, "{chi_squared}: {times:?}");
    }

    #[test]
    fn all_numbers_are_chosen_where_they_are_not_more() {
        let random = RandomSource::default();
        assert_eq!(random.choose(3, 3), [0, 1, 2]);
        assert_eq!(random.choose(9, 2), [0, 1]);
        assert_eq!(random.choose(0, 2), [0; 0]);
        let few = random.choose(3, u64::MAX);
        assert!(few.len() == 3 && few.is_sorted());
    }
}
