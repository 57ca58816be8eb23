//! The state of lists and sets: the elements of each group as consecutive encoded dynamics.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryViewBuilder};
use arrow::datatypes::Int64Type;
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_types::dynamic::{Kind, MAX_ENCODED};
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType};

use super::sketch::{Sketch, SketchFunction, Sketches};
use crate::dynamic::cells::Cells;
use crate::encoder::{encoder, finished};
use crate::kernel::KernelError;

/// The maximum number of elements of a list, set or bag (`docs/semantics.md §28.5`).
pub const MAX_ELEMENTS: usize = 1_048_576;

/// The elements of one group, up to a limit.
pub(crate) struct Elements {
    /// The encoded elements, each preceded by its length in 4 bytes.
    bytes: Vec<u8>,
    count: usize,
    limit: usize,
    /// The input positions of the elements, if the call provides them.
    order: Vec<i64>,
    /// The elements seen so far, if duplicates are dropped.
    distinct: Option<HashSet<Box<[u8]>>>,
    distinct_bytes: usize,
}

impl Elements {
    /// Adds an element; `false` if the limit is reached.
    fn push(&mut self, element: &[u8], place: Option<i64>) -> bool {
        if self.count >= self.limit || self.bytes.len() > MAX_ENCODED {
            return false;
        }
        if let Some(distinct) = &mut self.distinct {
            if distinct.contains(element) {
                return true;
            }
            distinct.insert(element.into());
            // The memory of the set entry: pointer and length twice, to account for free slots of the table, and the
            // allocation.
            self.distinct_bytes += element.len() + 48;
        }
        let Ok(len) = u32::try_from(element.len()) else {
            return true;
        };
        self.bytes.extend(len.to_le_bytes());
        self.bytes.extend_from_slice(element);
        self.order.extend(place);
        self.count += 1;
        true
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (element, tail) = split_element(rest)?;
            rest = tail;
            Some(element)
        })
    }

    fn write(&self, encoder: &mut Encoder) {
        encoder.begin_array();
        if self.order.len() == self.count && self.count > 0 {
            let mut placed: Vec<(i64, &[u8])> =
                self.order.iter().copied().zip(self.iter()).collect();
            placed.sort_by_key(|(place, _)| *place);
            for (_, element) in placed {
                encoder.dynamic(DynamicRef::new(element));
            }
        } else {
            for element in self.iter() {
                encoder.dynamic(DynamicRef::new(element));
            }
        }
        encoder.end();
    }
}

/// The value of one group exceeds the size limit. It is an error, because truncation would change the result.
pub(crate) fn exceeds(aggregate: &str) -> DataFusionError {
    KernelError::TooLarge(MAX_ENCODED).of(&format!("{aggregate}()"))
}

/// Splits the first encoded element from the rest.
pub(crate) fn split_element(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize)
}

impl Sketch for Elements {
    fn heap(&self) -> usize {
        self.bytes.capacity() + self.order.capacity() * size_of::<i64>() + self.distinct_bytes
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend((self.order.len() as u64).to_le_bytes());
        for place in &self.order {
            out.extend(place.to_le_bytes());
        }
        out.extend_from_slice(&self.bytes);
    }

    fn merge(&mut self, bytes: &[u8]) {
        let Some((count, rest)) = bytes.split_first_chunk::<8>() else {
            return;
        };
        let count = u64::from_le_bytes(*count) as usize;
        let Some((places, mut rest)) = rest.split_at_checked(count.saturating_mul(8)) else {
            return;
        };
        let mut places = places
            .chunks_exact(8)
            .map(|place| place.try_into().map_or(0, i64::from_le_bytes));
        while let Some((element, tail)) = split_element(rest) {
            self.push(element, places.next());
            rest = tail;
        }
    }
}

/// `make_list` and `make_set`.
#[derive(Clone)]
pub(crate) struct Collect {
    /// The type of the elements; the elements of dynamic arrays are added individually.
    pub(crate) kind: ScalarType,
    /// The maximum number of elements.
    pub(crate) limit: usize,
    /// Whether duplicates are dropped.
    pub(crate) distinct: bool,
    /// Whether nulls are elements.
    pub(crate) nulls: bool,
}

impl Collect {
    fn push_cell(
        &self,
        cells: &Cells,
        row: usize,
        encoder: &mut Encoder,
        mut push: impl FnMut(&[u8]) -> bool,
    ) {
        let mut bytes = Vec::new();
        let dynamic = cells.dynamic(row);
        if dynamic.kind() == Kind::Array {
            for element in dynamic.iter_array() {
                bytes.clear();
                element.to_encoded(&mut bytes);
                if !push(&bytes) {
                    return;
                }
            }
            return;
        }
        // A list keeps the nulls of a dynamic column, but not those of other types (`docs/semantics.md §16.5`).
        let keeps_null = self.nulls || (self.kind == ScalarType::Dynamic && !self.distinct);
        if cells.is_null(row) && !keeps_null {
            return;
        }
        cells.pack(row, encoder);
        encoder.finish_into(&mut bytes);
        push(&bytes);
    }
}

impl SketchFunction for Collect {
    type Sketch = Elements;

    fn empty(&self) -> Elements {
        Elements {
            bytes: Vec::new(),
            count: 0,
            limit: self.limit,
            order: Vec::new(),
            distinct: self.distinct.then(HashSet::new),
            distinct_bytes: 0,
        }
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<Elements>,
    ) -> Result<()> {
        let Some(column) = values.first() else {
            return Ok(());
        };
        let places = values.get(1).map(|array| array.as_primitive::<Int64Type>());
        let cells = Cells::new(column, self.kind)?;
        let mut encoder = Encoder::new();
        for (row, group) in groups.iter().enumerate() {
            let place = places.map(|places| places.value(row));
            sketches.with(*group, |elements| {
                self.push_cell(&cells, row, &mut encoder, |element| {
                    elements.push(element, place)
                });
            });
        }
        Ok(())
    }

    fn finish(&self, sketches: Vec<Elements>) -> Result<ArrayRef> {
        let mut out = BinaryViewBuilder::with_capacity(sketches.len());
        let mut encoder = encoder();
        for elements in sketches {
            elements.write(&mut encoder);
            let name = if self.distinct {
                "make_set"
            } else {
                "make_list"
            };
            if elements.bytes.len() > MAX_ENCODED {
                return Err(exceeds(name));
            }
            out.append_value(finished(&mut encoder, &format!("{name}()"))?);
        }
        Ok(Arc::new(out.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::groups::Groups;
    use crate::states::sketch::SketchGroups;
    use arrow::array::{BinaryViewArray, Int64Array};
    use datafusion::logical_expr::EmitTo;
    use hindsight_kql_types::Dynamic;

    fn check(function: Collect, values: ArrayRef, expected: &str) {
        let groups = vec![0; values.len()];
        let mut one = SketchGroups::new(function.clone());
        one.grow(1);
        one.update(&[values], &groups).unwrap();
        let mut merged = SketchGroups::new(function);
        merged.grow(1);
        let state = one.state(EmitTo::All).unwrap();
        merged.merge(&state, &[0]).unwrap();
        let result = merged.evaluate(EmitTo::All).unwrap();
        let json = DynamicRef::new(result.as_binary_view().value(0)).to_json();
        assert_eq!(json, expected);
    }

    fn collect(kind: ScalarType, distinct: bool, nulls: bool) -> Collect {
        Collect {
            kind,
            limit: 3,
            distinct,
            nulls,
        }
    }

    #[test]
    fn lists_skip_nulls_and_stop_at_the_limit() {
        let longs = || {
            Arc::new(Int64Array::from(vec![
                Some(7),
                None,
                Some(7),
                Some(8),
                Some(9),
            ]))
        };
        check(collect(ScalarType::Long, false, false), longs(), "[7,7,8]");
        check(
            collect(ScalarType::Long, false, true),
            longs(),
            "[7,null,7]",
        );
        check(collect(ScalarType::Long, true, false), longs(), "[7,8,9]");
        check(
            collect(ScalarType::TimeSpan, true, false),
            Arc::new(Int64Array::from(vec![0])),
            r#"["00:00:00"]"#,
        );
        check(
            collect(ScalarType::Long, true, false),
            Arc::new(Int64Array::from(Vec::<i64>::new())),
            "[]",
        );
    }

    #[test]
    fn arrays_are_flattened_and_bags_kept() {
        let encoded: Vec<Option<Vec<u8>>> = ["[1,2]", r#"{"a":[1]}"#, "null"]
            .iter()
            .map(|json| {
                let mut bytes = Vec::new();
                hindsight_kql_types::dynamic::parse_json_into(json, &mut bytes);
                (Dynamic::from_json(json) != Some(Dynamic::Null)).then_some(bytes)
            })
            .collect();
        let column = || {
            Arc::new(BinaryViewArray::from_iter(
                encoded.iter().map(|e| e.as_deref()),
            ))
        };
        let mut list = collect(ScalarType::Dynamic, false, false);
        list.limit = 10;
        check(list, column(), r#"[1,2,{"a":[1]},null]"#);
        check(
            collect(ScalarType::Dynamic, true, false),
            column(),
            r#"[1,2,{"a":[1]}]"#,
        );
    }
}
