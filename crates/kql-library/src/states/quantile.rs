//! Percentiles: exact nearest rank for small groups, estimated by a t-digest for large groups (`docs/semantics.md §16.6`).

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion::common::Result;

use super::digest::{Centroid, Digest};
use super::ranked::Ranked;
use super::sketch::{Sketch, SketchFunction, Sketches, read_u64};
use crate::kernel::total;

/// The number of values of a group up to which percentiles are exact.
const EXACT: usize = 8192;

/// The digest of a large group.
#[derive(Clone)]
struct Estimate<N> {
    origin: N,
    digest: Digest,
    below: f64,
    above: f64,
}

/// The values of one group.
pub(crate) struct Ranks<T: Ranked> {
    values: Vec<T::Native>,
    /// The weights of `values`; empty while all weights are 1.
    weights: Vec<i64>,
    estimate: Option<Box<Estimate<T::Native>>>,
}

impl<T: Ranked> Ranks<T> {
    /// An empty set of values.
    pub(crate) fn new() -> Ranks<T> {
        Ranks {
            values: Vec::new(),
            weights: Vec::new(),
            estimate: None,
        }
    }

    /// Adds a value.
    pub(crate) fn push(&mut self, value: T::Native, weight: i64) {
        if weight <= 0 {
            return;
        }
        if weight != 1 && self.weights.is_empty() {
            self.weights = vec![1; self.values.len()];
        }
        if weight != 1 || !self.weights.is_empty() {
            self.weights.push(weight);
        }
        self.values.push(value);
        if self.values.len() >= EXACT {
            self.fold();
        }
    }

    /// Adds a value of weight 1 if that changes no allocation; `false` otherwise.
    #[inline]
    fn push_within_capacity(&mut self, value: T::Native) -> bool {
        let next = self.values.len() + 1;
        let fits = next < EXACT && next <= self.values.capacity() && self.weights.is_empty();
        if fits {
            self.values.push(value);
        }
        fits
    }

    /// Moves all values into the digest.
    fn fold(&mut self) {
        let Some(first) = self.values.first().copied() else {
            return;
        };
        let estimate = self.estimate.get_or_insert_with(|| {
            Box::new(Estimate {
                origin: first,
                digest: Digest::default(),
                below: 0.0,
                above: 0.0,
            })
        });
        if self.weights.is_empty() {
            // Values alone are sorted faster than centroids.
            T::sort(&mut self.values);
        }
        let mut finite = Vec::with_capacity(self.values.len());
        for (index, value) in self.values.iter().enumerate() {
            let weight = self.weights.get(index).copied().unwrap_or(1) as f64;
            let mean = T::distance(*value, estimate.origin);
            if mean.is_finite() {
                finite.push(Centroid { mean, weight });
            } else if mean == f64::NEG_INFINITY {
                estimate.below += weight;
            } else {
                estimate.above += weight;
            }
        }
        estimate.digest.add(finite.into_iter());
        self.values.clear();
        self.weights.clear();
    }

    /// The values at these percentages by nearest rank: the value of rank `ceil(p/100 · n)`, at least 1.
    pub(crate) fn at(&mut self, percents: &[f64]) -> Vec<Option<T::Native>> {
        if self.estimate.is_some() {
            self.fold();
        }
        match &self.estimate {
            Some(estimate) => percents
                .iter()
                .map(|percent| estimate_at::<T>(estimate, *percent))
                .collect(),
            None if self.weights.is_empty() => self.exact(percents),
            None => self.weighted(percents),
        }
    }

    fn exact(&mut self, percents: &[f64]) -> Vec<Option<T::Native>> {
        let count = self.values.len();
        let index = |percent: f64| (rank(percent, count as f64) as usize).checked_sub(1);
        if percents.len() > 4 {
            T::sort(&mut self.values);
            let at = |percent: &f64| self.values.get(index(*percent)?).copied();
            return percents.iter().map(at).collect();
        }
        // A selection leaves the larger values behind the selected one, so the next larger rank is among these.
        let mut ascending: Vec<usize> = (0..percents.len()).collect();
        ascending.sort_unstable_by(|a, b| {
            let percent = |place: &usize| percents.get(*place).copied().unwrap_or(0.0);
            percent(a).total_cmp(&percent(b))
        });
        let mut found = vec![None; percents.len()];
        let mut begin = 0;
        for place in ascending {
            let wanted = percents.get(place).and_then(|percent| index(*percent));
            let Some(wanted) = wanted.filter(|wanted| *wanted < count) else {
                continue;
            };
            if wanted >= begin
                && let Some(rest) = self.values.get_mut(begin..)
            {
                rest.select_nth_unstable_by(wanted - begin, T::order);
                begin = wanted + 1;
            }
            if let Some(value) = found.get_mut(place) {
                *value = self.values.get(wanted).copied();
            }
        }
        found
    }

    fn weighted(&self, percents: &[f64]) -> Vec<Option<T::Native>> {
        let mut pairs: Vec<(T::Native, i64)> = self
            .values
            .iter()
            .copied()
            .zip(self.weights.iter().copied())
            .collect();
        pairs.sort_unstable_by(|a, b| T::order(&a.0, &b.0));
        let total: f64 = pairs.iter().map(|(_, weight)| *weight as f64).sum();
        percents
            .iter()
            .map(|percent| {
                let wanted = rank(*percent, total);
                let mut before = 0.0;
                let found = pairs.iter().find(|(_, weight)| {
                    before += *weight as f64;
                    before >= wanted
                });
                found.or(pairs.last()).map(|(value, _)| *value)
            })
            .collect()
    }
}

/// The nearest rank of a percentage among `count` values.
pub(crate) fn rank(percent: f64, count: f64) -> f64 {
    // The rounding error of a product such as 99.9/100 · 1000 must not raise the rank.
    let exact = percent * count / 100.0;
    let near = exact.round();
    let rank = if (exact - near).abs() < 1e-9 * near.max(1.0) {
        near
    } else {
        exact.ceil()
    };
    rank.clamp(1.0, count.max(1.0))
}

fn estimate_at<T: Ranked>(estimate: &Estimate<T::Native>, percent: f64) -> Option<T::Native> {
    let finite = estimate.digest.weight();
    let rank = rank(percent, finite + estimate.below + estimate.above);
    if rank <= estimate.below {
        return Some(T::at(f64::NEG_INFINITY, estimate.origin));
    }
    if rank > estimate.below + finite {
        return Some(T::at(f64::INFINITY, estimate.origin));
    }
    let distance = estimate.digest.value_at(rank - estimate.below)?;
    Some(T::at(distance, estimate.origin))
}

impl<T: Ranked> Sketch for Ranks<T> {
    fn heap(&self) -> usize {
        self.values.capacity() * size_of::<T::Native>()
            + self.weights.capacity() * size_of::<i64>()
            + self
                .estimate
                .as_ref()
                .map_or(0, |e| size_of::<Estimate<T::Native>>() + e.digest.heap())
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend((self.values.len() as u64).to_le_bytes());
        out.push(u8::from(!self.weights.is_empty()));
        T::write_all(&self.values, out);
        for weight in &self.weights {
            out.extend(weight.to_le_bytes());
        }
        if let Some(estimate) = &self.estimate {
            out.extend(T::write(estimate.origin));
            for number in [estimate.below, estimate.above] {
                out.extend(number.to_bits().to_le_bytes());
            }
            for centroid in estimate.digest.centroids() {
                out.extend(centroid.mean.to_bits().to_le_bytes());
                out.extend(centroid.weight.to_bits().to_le_bytes());
            }
        }
    }

    fn merge(&mut self, bytes: &[u8]) {
        // Invalid bytes end the decoding; they do not occur, because the state is written by this module.
        let _ = self.merge_encoded(bytes);
    }
}

impl<T: Ranked> Ranks<T> {
    /// Adds the values of a column to the ranks of their groups; an optional second column holds the weights.
    pub(crate) fn update(values: &[ArrayRef], groups: &[usize], sketches: &mut Sketches<Ranks<T>>) {
        let Some(column) = values.first() else {
            return;
        };
        let column = column.as_primitive::<T>();
        let weights = values.get(1).map(|array| array.as_primitive::<Int64Type>());
        if weights.is_none() && column.null_count() == 0 {
            for (group, value) in groups.iter().zip(column.values()) {
                if !sketches.change_in_place(*group, |ranks| ranks.push_within_capacity(*value)) {
                    sketches.change(*group, |ranks| ranks.push(*value, 1));
                }
            }
            return;
        }
        for (row, group) in groups.iter().enumerate() {
            if column.is_null(row) {
                continue;
            }
            let weight = match weights {
                None => 1,
                Some(weights) if weights.is_valid(row) => weights.value(row),
                Some(_) => continue,
            };
            let value = column.value(row);
            sketches.with(*group, |ranks| ranks.push(value, weight));
        }
    }

    /// The total weight of the values.
    pub(crate) fn weight(&self) -> f64 {
        let kept = if self.weights.is_empty() {
            self.values.len() as f64
        } else {
            self.weights.iter().map(|weight| *weight as f64).sum()
        };
        let folded = self.estimate.as_ref().map_or(0.0, |estimate| {
            estimate.below + estimate.digest.weight() + estimate.above
        });
        kept + folded
    }

    /// The total weight of the values that are not greater than `value`.
    pub(crate) fn weight_up_to(&mut self, value: T::Native) -> f64 {
        if self.estimate.is_some() {
            self.fold();
        }
        let Some(estimate) = &self.estimate else {
            let pairs = self.values.iter().enumerate();
            let not_greater = pairs.filter(|(_, v)| T::order(v, &value) != Ordering::Greater);
            return total(
                not_greater.map(|(index, _)| self.weights.get(index).copied().unwrap_or(1) as f64),
            );
        };
        let distance = T::distance(value, estimate.origin);
        if distance == f64::NEG_INFINITY {
            return estimate.below;
        }
        if !distance.is_finite() {
            return self.weight();
        }
        estimate.below + estimate.digest.weight_up_to(distance)
    }

    fn merge_encoded(&mut self, bytes: &[u8]) -> Option<()> {
        let (count, rest) = read_u64(bytes)?;
        let (weighted, rest) = rest.split_first()?;
        let count = usize::try_from(count).ok()?;
        let (values, mut rest) = rest.split_at_checked(count.checked_mul(T::WIDTH)?)?;
        if *weighted == 0 && self.weights.is_empty() {
            T::read_all(values, &mut self.values);
            if self.values.len() >= EXACT {
                self.fold();
            }
            return self.merge_rest(rest);
        }
        let mut read = Vec::with_capacity(count);
        T::read_all(values, &mut read);
        for value in read {
            let mut weight = 1;
            if *weighted != 0 {
                let (bits, tail) = read_u64(rest)?;
                weight = bits as i64;
                rest = tail;
            }
            self.push(value, weight);
        }
        self.merge_rest(rest)
    }

    /// Merges what follows the values: nothing, or an encoded estimate.
    fn merge_rest(&mut self, rest: &[u8]) -> Option<()> {
        if rest.is_empty() {
            return Some(());
        }
        let (origin, rest) = rest.split_first_chunk::<16>()?;
        self.merge_estimate(T::read(*origin), rest)
    }

    fn merge_estimate(&mut self, origin: T::Native, bytes: &[u8]) -> Option<()> {
        self.fold();
        let estimate = self.estimate.get_or_insert_with(|| {
            Box::new(Estimate {
                origin,
                digest: Digest::default(),
                below: 0.0,
                above: 0.0,
            })
        });
        let (below, rest) = read_u64(bytes)?;
        let (above, mut rest) = read_u64(rest)?;
        estimate.below += f64::from_bits(below);
        estimate.above += f64::from_bits(above);
        // Reals are independent of the origin; other types are shifted by the distance between the origins.
        let shift = T::distance(T::at(0.0, origin), T::at(0.0, estimate.origin));
        let mut centroids = Vec::with_capacity(rest.len() / 16);
        while let Some((mean, tail)) = read_u64(rest) {
            let (weight, tail) = read_u64(tail)?;
            centroids.push(Centroid {
                mean: f64::from_bits(mean) + shift,
                weight: f64::from_bits(weight),
            });
            rest = tail;
        }
        estimate.digest.add(centroids.into_iter());
        Some(())
    }
}

/// The percentiles of a column: one sketch per group for all percentages.
pub(crate) struct Percentiles<T: Ranked> {
    /// The percentages, 0 to 100.
    pub(crate) percents: Arc<[f64]>,
    /// The type of the column and of the results.
    pub(crate) kind: DataType,
    kind_of: std::marker::PhantomData<T>,
}

impl<T: Ranked> Clone for Percentiles<T> {
    fn clone(&self) -> Self {
        Percentiles::new(Arc::clone(&self.percents), self.kind.clone())
    }
}

impl<T: Ranked> Percentiles<T> {
    /// The percentiles of a column of type `kind`.
    pub(crate) fn new(percents: Arc<[f64]>, kind: DataType) -> Percentiles<T> {
        Percentiles {
            percents,
            kind,
            kind_of: std::marker::PhantomData,
        }
    }
}

/// The name of the struct field for the percentage at `index`.
pub(crate) fn field_name(index: usize) -> String {
    format!("p{index}")
}

/// The struct fields of the result, one per percentage.
pub(crate) fn fields(count: usize, kind: &DataType) -> Fields {
    (0..count)
        .map(|index| Field::new(field_name(index), kind.clone(), true))
        .collect()
}

impl<T: Ranked> SketchFunction for Percentiles<T> {
    type Sketch = Ranks<T>;

    fn empty(&self) -> Ranks<T> {
        Ranks::new()
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<Ranks<T>>,
    ) -> Result<()> {
        Ranks::update(values, groups, sketches);
        Ok(())
    }

    fn finish(&self, mut sketches: Vec<Ranks<T>>) -> Result<ArrayRef> {
        let rows: Vec<Vec<Option<T::Native>>> = sketches
            .iter_mut()
            .map(|ranks| ranks.at(&self.percents))
            .collect();
        let columns = (0..self.percents.len())
            .map(|index| {
                let values = rows.iter().map(|row| row.get(index).copied().flatten());
                let array: PrimitiveArray<T> = values.collect();
                Arc::new(array.with_data_type(self.kind.clone())) as ArrayRef
            })
            .collect();
        let fields = fields(self.percents.len(), &self.kind);
        Ok(Arc::new(StructArray::try_new(fields, columns, None)?))
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::Float64Type;

    use super::*;

    fn check(values: &[i64], percent: f64, expected: Option<i64>) {
        let mut one = Ranks::<Int64Type>::new();
        let mut halves = Ranks::<Int64Type>::new();
        for (index, value) in values.iter().enumerate() {
            one.push(*value, 1);
            if index % 2 == 0 {
                halves.push(*value, 1);
            } else {
                let mut part = Ranks::<Int64Type>::new();
                part.push(*value, 1);
                let mut bytes = Vec::new();
                part.encode(&mut bytes);
                halves.merge(&bytes);
            }
        }
        assert_eq!(one.at(&[percent]), [expected]);
        assert_eq!(halves.at(&[percent]), [expected]);
    }

    #[test]
    fn small_groups_return_the_nearest_rank() {
        check(&[], 50.0, None);
        check(&[20, 10], 25.0, Some(10));
        check(&[20, 10], 50.0, Some(10));
        check(&[20, 10], 51.0, Some(20));
        check(&[3, 1, 2], 0.0, Some(1));
        check(&[3, 1, 2], 100.0, Some(3));
        check(&(1..=1000).collect::<Vec<_>>(), 99.9, Some(999));
    }

    #[test]
    fn several_percentages_in_any_order_return_their_ranks() {
        let mut ranks = Ranks::<Int64Type>::new();
        (0..1000).for_each(|i| ranks.push(i * 7919 % 1000 + 1, 1));
        for _ in 0..2 {
            let found = ranks.at(&[99.0, 50.0, 99.0, 0.0]);
            assert_eq!(found, [Some(990), Some(500), Some(990), Some(1)]);
            assert_eq!(ranks.at(&[100.0, 0.1]), [Some(1000), Some(1)]);
        }
    }

    #[test]
    fn weights_repeat_values() {
        let mut ranks = Ranks::<Int64Type>::new();
        for (value, weight) in [(10, 8), (20, 6), (30, 3), (40, 1), (50, 0)] {
            ranks.push(value, weight);
        }
        let found = ranks.at(&[50.0, 75.0, 99.9]);
        assert_eq!(found, [Some(20), Some(20), Some(40)]);
    }

    #[test]
    fn large_groups_are_estimated_far_from_zero_and_after_merges() {
        let start = 638_000_000_000_000_000_i64;
        let mut merged = Ranks::<Int64Type>::new();
        for part in 0..4 {
            let mut ranks = Ranks::<Int64Type>::new();
            for i in 0..25_000 {
                ranks.push(start + (i * 4 + part) * 10, 1);
            }
            let mut bytes = Vec::new();
            ranks.encode(&mut bytes);
            merged.merge(&bytes);
        }
        let found = merged.at(&[95.0])[0].unwrap() - start;
        assert!((found - 950_000).abs() < 1_000, "{found}");
    }

    #[test]
    fn encoded_values_are_read_in_their_order() {
        let values: Vec<f64> = (0..5000).map(|i| f64::from(i * 7919 % 5000)).collect();
        let mut ranks = Ranks::<Float64Type>::new();
        values.iter().for_each(|value| ranks.push(*value, 1));
        let mut bytes = Vec::new();
        ranks.encode(&mut bytes);
        let mut read = Ranks::<Float64Type>::new();
        read.merge(&bytes);
        assert_eq!(read.values, values);
        // Both halves together are as many as a digest takes.
        read.merge(&bytes);
        assert!(read.estimate.is_some());
        assert_eq!(read.weight(), 10_000.0);
        let found = read.at(&[50.0])[0].expect("a value");
        assert!((found - 2500.0).abs() < 10.0, "{found}");
    }

    #[test]
    fn infinities_sort_at_the_ends() {
        let mut ranks = Ranks::<Float64Type>::new();
        for i in 0..20_000 {
            ranks.push(
                if i % 10 == 0 {
                    f64::INFINITY
                } else {
                    f64::from(i)
                },
                1,
            );
        }
        let found = ranks.at(&[50.0, 95.0]);
        assert!(found[0].unwrap().is_finite());
        assert_eq!(found[1], Some(f64::INFINITY));
    }
}
