//! Choices from a seed.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Makes the choices of one query. The same seed makes the same choices.
pub(super) struct Choice(StdRng);

impl Choice {
    pub(super) fn new(seed: u64) -> Choice {
        Choice(StdRng::seed_from_u64(seed))
    }

    /// A number below `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0.random_range(0..count.max(1))
    }

    /// One of `items`.
    pub(super) fn of<T: Clone>(&mut self, items: &[T]) -> T {
        let index = self.below(items.len());
        items[index].clone()
    }

    /// `true` so often in a hundred.
    pub(super) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
