//! Exact percentiles of values that have an order and no distance: bools, strings and guids (`docs/semantics.md §16.6`).

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, FixedSizeBinaryBuilder, StringViewArray, StructArray,
};
use arrow::datatypes::Int64Type;
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_types::ScalarType;

use super::quantile::{fields, rank};
use super::sketch::{Sketch, SketchFunction, Sketches, read_u64};
use crate::kernel::{KernelError, total};

/// The maximum number of distinct values in a group. A digest estimates larger groups of numbers; values without a distance
/// have no digest.
const MAX_DISTINCT: usize = 1_048_576;

/// The memory of an entry of the map without its bytes: pointer, length and count, twice to account for free slots of the
/// nodes.
const ENTRY: usize = 48;

/// The number of occurrences of each value in a group. A value is kept as bytes whose order is that of `sort by`.
pub(crate) struct Counts {
    values: BTreeMap<Box<[u8]>, u64>,
    bytes: usize,
}

impl Counts {
    fn push(&mut self, value: &[u8], weight: u64) {
        if weight == 0 {
            return;
        }
        if let Some(count) = self.values.get_mut(value) {
            *count = count.saturating_add(weight);
            return;
        }
        // One value beyond the limit is kept, so that the result is refused.
        if self.values.len() <= MAX_DISTINCT {
            self.values.insert(value.into(), weight);
            self.bytes += value.len() + ENTRY;
        }
    }

    /// The value at this percentage by nearest rank; `None` for an empty group.
    fn at(&self, percent: f64) -> Option<&[u8]> {
        let wanted = rank(percent, total(self.values.values().map(|n| *n as f64)));
        let mut up_to = 0.0;
        let found = self.values.iter().find(|(_, count)| {
            up_to += **count as f64;
            up_to >= wanted
        });
        found.map(|(value, _)| value.as_ref())
    }
}

impl Sketch for Counts {
    fn heap(&self) -> usize {
        self.bytes
    }

    fn encode(&self, out: &mut Vec<u8>) {
        for (value, count) in &self.values {
            out.extend(count.to_le_bytes());
            out.extend((value.len() as u64).to_le_bytes());
            out.extend_from_slice(value);
        }
    }

    fn merge(&mut self, bytes: &[u8]) {
        // Invalid bytes end the decoding; they do not occur, because the state is written by this module.
        let mut rest = bytes;
        while let Some((count, tail)) = read_u64(rest)
            && let Some((length, tail)) = read_u64(tail)
            && let Ok(length) = usize::try_from(length)
            && let Some((value, tail)) = tail.split_at_checked(length)
        {
            self.push(value, count);
            rest = tail;
        }
    }
}

/// The percentiles of a column of bools, strings or guids.
#[derive(Clone)]
pub(crate) struct OrderedPercentiles {
    /// The percentages, 0 to 100.
    pub(crate) percents: Arc<[f64]>,
    /// The type of the column and of the results.
    pub(crate) kind: ScalarType,
}

impl OrderedPercentiles {
    /// Passes the bytes of each value that is not null to `push`, with its row.
    fn each_value(&self, column: &dyn Array, mut push: impl FnMut(usize, &[u8])) {
        for row in (0..column.len()).filter(|row| column.is_valid(*row)) {
            match self.kind {
                ScalarType::Bool => push(row, &[u8::from(column.as_boolean().value(row))]),
                ScalarType::Guid => push(row, column.as_fixed_size_binary().value(row)),
                _ => push(row, column.as_string_view().value(row).as_bytes()),
            }
        }
    }

    /// The column of values that [`OrderedPercentiles::each_value`] wrote as bytes.
    fn column<'v>(&self, values: impl Iterator<Item = Option<&'v [u8]>>) -> Result<ArrayRef> {
        Ok(match self.kind {
            ScalarType::Bool => Arc::new(
                values
                    .map(|value| value.map(|bytes| bytes == [1]))
                    .collect::<BooleanArray>(),
            ),
            ScalarType::Guid => {
                let mut out = FixedSizeBinaryBuilder::new(16);
                for value in values {
                    match value {
                        Some(bytes) => out.append_value(bytes)?,
                        None => out.append_null(),
                    }
                }
                Arc::new(out.finish())
            }
            _ => Arc::new(
                values
                    .map(|value| value.and_then(|bytes| std::str::from_utf8(bytes).ok()))
                    .collect::<StringViewArray>(),
            ),
        })
    }

    fn too_many(&self) -> DataFusionError {
        let message = format!(
            "percentiles of type {}: a group has more than {MAX_DISTINCT} distinct values",
            self.kind
        );
        DataFusionError::External(Box::new(KernelError::Failed(message)))
    }
}

impl SketchFunction for OrderedPercentiles {
    type Sketch = Counts;

    fn empty(&self) -> Counts {
        Counts {
            values: BTreeMap::new(),
            bytes: 0,
        }
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<Counts>,
    ) -> Result<()> {
        let Some(column) = values.first() else {
            return Ok(());
        };
        let weights = values.get(1).map(|array| array.as_primitive::<Int64Type>());
        self.each_value(column, |row, value| {
            let weight = match weights {
                None => 1,
                Some(weights) if weights.is_valid(row) => weights.value(row),
                Some(_) => 0,
            };
            // A negative weight is no weight.
            let weight = u64::try_from(weight).unwrap_or(0);
            if let Some(group) = groups.get(row) {
                sketches.with(*group, |counts| counts.push(value, weight));
            }
        });
        Ok(())
    }

    fn finish(&self, sketches: Vec<Counts>) -> Result<ArrayRef> {
        if sketches.iter().any(|c| c.values.len() > MAX_DISTINCT) {
            return Err(self.too_many());
        }
        let columns = self
            .percents
            .iter()
            .map(|percent| self.column(sketches.iter().map(|counts| counts.at(*percent))))
            .collect::<Result<Vec<_>>>()?;
        let fields = fields(self.percents.len(), &self.kind.arrow());
        Ok(Arc::new(StructArray::try_new_with_length(
            fields,
            columns,
            None,
            sketches.len(),
        )?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(kind: ScalarType, percents: &[f64]) -> OrderedPercentiles {
        OrderedPercentiles {
            percents: percents.into(),
            kind,
        }
    }

    #[test]
    fn merged_counts_are_those_of_all_values() {
        let texts = function(ScalarType::String, &[]);
        let (mut all, mut part) = (texts.empty(), texts.empty());
        all.push(b"b", 1);
        part.push(b"a", 1);
        part.push(b"b", 2);
        let mut bytes = Vec::new();
        part.encode(&mut bytes);
        all.merge(&bytes);
        assert_eq!(all.at(25.0), Some(b"a".as_slice()));
        assert_eq!(all.at(26.0), Some(b"b".as_slice()));
        assert_eq!(all.values.get(b"b".as_slice()), Some(&3));
        assert_eq!(texts.empty().at(50.0), None);
    }

    #[test]
    fn too_many_distinct_values_are_refused() {
        let texts = function(ScalarType::String, &[50.0]);
        let mut counts = texts.empty();
        for number in 0..=MAX_DISTINCT as u64 {
            counts.push(&number.to_be_bytes(), 1);
        }
        let error = texts.finish(vec![counts]).unwrap_err().to_string();
        assert!(
            error.contains("more than 1048576 distinct values"),
            "{error}"
        );
    }
}
