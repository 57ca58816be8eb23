//! Distinct counts: exact hashes for small sets, HyperLogLog registers for large sets.
//!
//! A set of up to 2^(p-3) 64-bit hashes is stored exactly (it takes as much memory as the registers), so the count of a
//! small group is exact unless two hashes collide, about once in a billion groups of that size. Larger sets use 2^p
//! registers with a standard error of 1.04 / 2^(p/2), estimated by Ertl's unbiased formula.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::UInt32Type;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use datafusion::common::Result;
use datafusion::common::hash_utils::{HLL_RANDOM_STATE, with_hashes};
use datafusion::logical_expr::EmitTo;
use hindsight_kql_types::{DynamicRef, Encoder};

use super::groups::Groups;
use super::sketch::{Sketch, SketchFunction, SketchGroups, Sketches, read_u64};

/// The prefix that identifies the text of a state.
const PREFIX: &str = "hll:";

/// The number of index bits for accuracy 0 to 4 (`docs/semantics.md §16.3`).
pub(crate) fn index_bits(accuracy: i64) -> Option<u8> {
    Some(match accuracy {
        0 => 12,
        1 => 14,
        2 => 16,
        3 => 17,
        4 => 18,
        _ => return None,
    })
}

/// Whether [`index_bits`] returns this number for some accuracy.
pub(crate) fn is_index_bits(bits: u8) -> bool {
    (0..=4).any(|accuracy| index_bits(accuracy) == Some(bits))
}

/// A hasher that returns the value unchanged, because the values are hashes.
#[derive(Debug, Default, Clone)]
pub(crate) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[derive(Debug, Clone)]
enum Content {
    Exact(HashSet<u64, BuildHasherDefault<IdentityHasher>>),
    Registers(Box<[u8]>),
}

/// A set of hashes, exact or estimated.
#[derive(Debug, Clone)]
pub(crate) struct HyperLogLog {
    bits: u8,
    content: Content,
}

impl HyperLogLog {
    /// The empty set with 2^`bits` registers.
    pub(crate) fn new(bits: u8) -> HyperLogLog {
        HyperLogLog {
            bits,
            content: Content::Exact(HashSet::default()),
        }
    }

    fn exact_limit(&self) -> usize {
        1 << (self.bits - 3)
    }

    /// Adds a hash.
    pub(crate) fn insert(&mut self, hash: u64) {
        let limit = self.exact_limit();
        match &mut self.content {
            Content::Registers(registers) => set_register(registers, self.bits, hash),
            Content::Exact(hashes) => {
                hashes.insert(hash);
                if hashes.len() > limit {
                    self.densify();
                }
            }
        }
    }

    fn densify(&mut self) {
        if let Content::Exact(hashes) = &self.content {
            let mut registers = vec![0; 1 << self.bits].into_boxed_slice();
            for hash in hashes {
                set_register(&mut registers, self.bits, *hash);
            }
            self.content = Content::Registers(registers);
        }
    }

    /// The number of distinct hashes.
    pub(crate) fn count(&self) -> i64 {
        match &self.content {
            Content::Exact(hashes) => i64::try_from(hashes.len()).unwrap_or(i64::MAX),
            Content::Registers(registers) => estimate(registers, self.bits),
        }
    }

    /// Decodes a set from the output of [`Sketch::encode`].
    pub(crate) fn decode(bytes: &[u8]) -> Option<HyperLogLog> {
        let (bits, _) = bytes.split_first()?;
        if !(12..=18).contains(bits) {
            return None;
        }
        let mut set = HyperLogLog::new(*bits);
        set.merge(bytes);
        Some(set)
    }

    /// Decodes a set from its dynamic form; `None` if the value is not a state.
    pub(crate) fn read(state: DynamicRef<'_>) -> Option<HyperLogLog> {
        let text = state.as_str()?.strip_prefix(PREFIX)?;
        HyperLogLog::decode(&BASE64_STANDARD.decode(text).ok()?)
    }

    /// Writes the set in its dynamic form.
    pub(crate) fn write(&self, encoder: &mut Encoder) {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        let mut text = PREFIX.to_owned();
        BASE64_STANDARD.encode_string(&bytes, &mut text);
        encoder.string(&text);
    }

    /// The union of this set and another.
    #[must_use]
    pub(crate) fn union(mut self, other: &HyperLogLog) -> HyperLogLog {
        let mut bytes = Vec::new();
        other.encode(&mut bytes);
        self.merge(&bytes);
        self
    }

    /// Merges registers with `bits` index bits; the finer of the two register sets is reduced to the precision of the
    /// coarser one.
    fn merge_registers(&mut self, bits: u8, other: &[u8]) {
        if bits < self.bits {
            self.coarsen(bits);
        }
        self.densify();
        let drop = bits - self.bits;
        if let Content::Registers(registers) = &mut self.content {
            for (index, rank) in other.iter().enumerate().filter(|(_, rank)| **rank > 0) {
                let (index, rank) = coarse(index, *rank, drop);
                if let Some(slot) = registers.get_mut(index) {
                    *slot = (*slot).max(rank);
                }
            }
        }
    }

    fn coarsen(&mut self, bits: u8) {
        let drop = self.bits - bits;
        self.bits = bits;
        if let Content::Registers(fine) = &self.content {
            let mut registers = vec![0; 1 << bits].into_boxed_slice();
            for (index, rank) in fine.iter().enumerate().filter(|(_, rank)| **rank > 0) {
                let (index, rank) = coarse(index, *rank, drop);
                if let Some(slot) = registers.get_mut(index) {
                    *slot = (*slot).max(rank);
                }
            }
            self.content = Content::Registers(registers);
        }
    }
}

/// The register and rank with `drop` fewer index bits: the dropped bits become the leading bits of the rest of the hash.
fn coarse(index: usize, rank: u8, drop: u8) -> (usize, u8) {
    let low = index & ((1 << drop) - 1);
    let rank = match low {
        0 => rank + drop,
        low => drop - u8::try_from(low.ilog2()).unwrap_or(0),
    };
    (index >> drop, rank)
}

fn set_register(registers: &mut [u8], bits: u8, hash: u64) {
    let index = (hash >> (64 - bits)) as usize;
    // The guard bit bounds the rank by 65 - bits.
    let rest = (hash << bits) | (1 << (bits - 1));
    let rank = rest.leading_zeros() as u8 + 1;
    if let Some(slot) = registers.get_mut(index)
        && *slot < rank
    {
        *slot = rank;
    }
}

/// Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", algorithm 6.
fn estimate(registers: &[u8], bits: u8) -> i64 {
    let q = usize::from(64 - bits);
    let mut histogram = [0.0_f64; 66];
    for rank in registers {
        if let Some(slot) = histogram.get_mut(usize::from(*rank)) {
            *slot += 1.0;
        }
    }
    let m = registers.len() as f64;
    let at = |k: usize| histogram.get(k).copied().unwrap_or(0.0);
    let mut z = m * tau(1.0 - at(q + 1) / m);
    for k in (1..=q).rev() {
        z = 0.5 * (z + at(k));
    }
    z += m * sigma(at(0) / m);
    (m / (2.0 * std::f64::consts::LN_2) * m / z).round() as i64
}

fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x).powi(2) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

impl Sketch for HyperLogLog {
    fn heap(&self) -> usize {
        match &self.content {
            Content::Exact(hashes) => hashes.capacity() * 10,
            Content::Registers(registers) => registers.len(),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.bits);
        match &self.content {
            Content::Exact(hashes) => {
                out.push(0);
                out.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
            }
            Content::Registers(registers) => {
                out.push(1);
                out.extend_from_slice(registers);
            }
        }
    }

    fn merge(&mut self, bytes: &[u8]) {
        let [bits, form, content @ ..] = bytes else {
            return;
        };
        if !(12..=18).contains(bits) {
            return;
        }
        match form {
            0 => {
                let mut rest = content;
                while let Some((hash, tail)) = read_u64(rest) {
                    self.insert(hash);
                    rest = tail;
                }
            }
            _ if content.len() == 1 << bits => self.merge_registers(*bits, content),
            _ => {}
        }
    }
}

/// `dcount`: the estimated number of distinct values that are not null.
#[derive(Clone)]
pub(crate) struct DistinctCount {
    /// Index bits of the registers.
    pub(crate) bits: u8,
}

/// Adds the hashes of the non-null values of a column.
pub(crate) fn insert_hashes(
    array: &ArrayRef,
    groups: &[usize],
    sketches: &mut Sketches<HyperLogLog>,
) -> Result<()> {
    let nulls = array.logical_nulls();
    with_hashes([array], &HLL_RANDOM_STATE, |hashes| {
        for (row, (hash, group)) in hashes.iter().zip(groups).enumerate() {
            if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                sketches.with(*group, |set| set.insert(*hash));
            }
        }
        Ok(())
    })
}

/// The state of `dcount`, whose argument may be a dictionary: then each distinct value is hashed once, for all batches that share the
/// dictionary.
pub(crate) struct DistinctGroups {
    sketches: SketchGroups<DistinctCount>,
    latest: Option<DictionaryHashes>,
}

/// The hashes of the values of a dictionary; `None` for null.
struct DictionaryHashes {
    values: ArrayRef,
    hashes: Vec<Option<u64>>,
}

impl DistinctGroups {
    /// A state without groups.
    pub(crate) fn new(function: DistinctCount) -> DistinctGroups {
        DistinctGroups {
            sketches: SketchGroups::new(function),
            latest: None,
        }
    }
}

impl DictionaryHashes {
    fn of(values: &ArrayRef) -> Result<DictionaryHashes> {
        let nulls = values.logical_nulls();
        let hashes = with_hashes([values], &HLL_RANDOM_STATE, |hashes| {
            let hash = |(row, hash): (usize, &u64)| {
                let is_valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
                is_valid.then_some(*hash)
            };
            Ok(hashes.iter().enumerate().map(hash).collect())
        })?;
        Ok(DictionaryHashes {
            values: Arc::clone(values),
            hashes,
        })
    }
}

impl Groups for DistinctGroups {
    fn grow(&mut self, total: usize) {
        self.sketches.grow(total);
    }

    fn update(&mut self, values: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let coded = values
            .first()
            .and_then(|array| array.as_dictionary_opt::<UInt32Type>());
        let Some(coded) = coded else {
            return self.sketches.update(values, groups);
        };
        let known = self.latest.take();
        let known = known.filter(|known| Arc::ptr_eq(&known.values, coded.values()));
        let known = match known {
            Some(known) => known,
            None => DictionaryHashes::of(coded.values())?,
        };
        let hashes = &self.latest.insert(known).hashes;
        let rows = coded.keys().iter().zip(groups);
        let rows = rows.filter_map(|(code, group)| {
            let hash = hashes.get(code? as usize).copied().flatten();
            Some((*group, hash?))
        });
        self.sketches
            .change_each(rows, |set, hash| set.insert(hash))
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        self.sketches.merge(states, groups)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        self.sketches.evaluate(emit)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        self.sketches.state(emit)
    }

    fn size(&self) -> usize {
        let hashes = self.latest.as_ref().map_or(0, |latest| latest.hashes.len());
        self.sketches.size() + hashes * size_of::<Option<u64>>()
    }
}

impl SketchFunction for DistinctCount {
    type Sketch = HyperLogLog;

    fn empty(&self) -> HyperLogLog {
        HyperLogLog::new(self.bits)
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<HyperLogLog>,
    ) -> Result<()> {
        match values.first() {
            Some(array) if !groups.is_empty() => insert_hashes(array, groups, sketches),
            _ => Ok(()),
        }
    }

    fn finish(&self, sketches: Vec<HyperLogLog>) -> Result<ArrayRef> {
        let counts = sketches.iter().map(HyperLogLog::count);
        Ok(Arc::new(Int64Array::from_iter_values(counts)))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{DictionaryArray, StringViewArray, UInt32Array};

    use super::*;

    fn set(bits: u8, values: std::ops::Range<u64>) -> HyperLogLog {
        let mut set = HyperLogLog::new(bits);
        for value in values {
            // Spreads consecutive numbers over 64 bits (splitmix64).
            let mut x = value.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            set.insert(x ^ (x >> 31));
        }
        set
    }

    fn check(bits: u8, values: u64, tolerance: f64) {
        let counted = set(bits, 0..values).count() as f64;
        let error = (counted - values as f64).abs() / values as f64;
        assert!(error <= tolerance, "{values} counted as {counted}");
    }

    #[test]
    fn small_sets_are_exact_and_large_ones_within_three_standard_errors() {
        check(14, 1, 0.0);
        check(14, 2_000, 0.0);
        check(14, 10_000, 0.025);
        check(14, 1_000_000, 0.025);
        check(18, 300_000, 0.007);
    }

    #[test]
    fn a_dictionary_counts_as_its_values_do() {
        let texts = ["a", "b", "a text beyond twelve bytes", "", "b"];
        let texts: StringViewArray = texts.iter().map(|t| Some(*t)).chain([None]).collect();
        let values: ArrayRef = Arc::new(texts);
        let codes = UInt32Array::from(vec![0, 5, 1, 2, 0, 4, 3, 2]);
        let groups = [0, 0, 0, 1, 1, 1, 1, 0];
        let plain = arrow::compute::take(&values, &codes, None).expect("taken");
        let coded: ArrayRef = Arc::new(DictionaryArray::new(codes, values));
        let count = |rounds: &[&ArrayRef]| {
            let mut state = DistinctGroups::new(DistinctCount { bits: 14 });
            state.grow(2);
            for array in rounds {
                let added = state.update(&[Arc::clone(array)], &groups);
                assert!(added.is_ok());
            }
            state.evaluate(EmitTo::All).expect("counted")
        };
        let expected: ArrayRef = Arc::new(Int64Array::from(vec![3, 4]));
        for rounds in [&[&plain][..], &[&coded], &[&coded, &plain, &coded]] {
            assert_eq!(&count(rounds), &expected);
        }
    }

    #[test]
    fn merging_any_forms_counts_the_union() {
        let merged = |bits: u8, a: std::ops::Range<u64>, other: u8, b: std::ops::Range<u64>| {
            let mut left = set(bits, a);
            let mut bytes = Vec::new();
            set(other, b).encode(&mut bytes);
            left.merge(&bytes);
            left.count()
        };
        assert_eq!(merged(14, 0..500, 14, 250..1000), 1000);
        let same = set(14, 0..90_000).count();
        assert_eq!(merged(14, 0..50_000, 14, 40_000..90_000), same);
        assert_eq!(merged(14, 0..50_000, 16, 40_000..90_000), same);
        assert_eq!(merged(16, 0..50_000, 14, 40_000..90_000), same);
        assert_eq!(
            merged(14, 0..100, 14, 0..50_000),
            set(14, 0..50_000).count()
        );
    }
}
