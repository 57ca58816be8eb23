//! The reservoirs of `sample`.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use rand::Rng;
use rand::rngs::StdRng;

use super::kept::{KeptRows, Place};
use crate::random::RandomSource;
use crate::transform::{
    KeyNumbers, MAX_BATCH_ROWS, READS_ONE_STREAM, Reads, Transform, TransformMessage,
    TransformState,
};
use crate::work::CancellationToken;

/// At most `count` random rows of each combination of the fields `keys`, or of all rows if there are no keys.
///
/// Each group of rows has a reservoir (J. S. Vitter, "Random Sampling with a Reservoir", algorithm R). The row with the
/// number `i`, counted from 0, takes a place if `i < count`. Any other row draws a number uniformly from `0..=i` and, if there
/// is a place of that number, replaces the row there. By induction every set of `count` rows of the first `i + 1` is equally
/// likely: the row `i` is kept with the probability `count / (i + 1)`, in a place that is equally likely to be any. This holds
/// for every order of the rows, so the order in which partitions arrive has no influence.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) keys: Vec<String>,
    pub(super) count: usize,
    pub(super) random: RandomSource,
}

impl Transform for Sample {
    fn name(&self) -> &'static str {
        "Sample"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        Some(self.keys.clone())
    }

    fn estimated_rows(&self, _: &Arc<dyn ExecutionPlan>, input_rows: usize) -> usize {
        if self.keys.is_empty() {
            input_rows.min(self.count)
        } else {
            input_rows
        }
    }

    fn random_rows(&self) -> Option<(usize, &RandomSource)> {
        self.keys.is_empty().then_some((self.count, &self.random))
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, input: &SchemaRef, _: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let keys = self.keys.iter().map(|key| Ok(input.index_of(key)?));
        let keys = keys.collect::<Result<Vec<usize>>>()?;
        let kinds = keys.iter().map(|key| input.field(*key).data_type().clone());
        Ok(Box::new(State {
            groups: KeyNumbers::new(kinds)?,
            keys,
            count: self.count,
            generator: self.random.generator(),
            cancellation: CancellationToken::current(),
            reservoirs: Vec::new(),
            places: 0,
            rows: KeptRows::default(),
            ready: None,
        }))
    }
}

struct State {
    /// The key fields.
    keys: Vec<usize>,
    groups: KeyNumbers,
    count: usize,
    generator: StdRng,
    cancellation: CancellationToken,
    /// The reservoir of each group.
    reservoirs: Vec<Reservoir>,
    /// The places of all reservoirs.
    places: usize,
    rows: KeptRows,
    /// The places that the output has not returned yet, once the input has ended.
    ready: Option<Vec<Place>>,
}

#[derive(Default)]
struct Reservoir {
    /// The rows that were offered.
    seen: u64,
    places: Vec<Place>,
}

impl Reservoir {
    /// The place that the next row takes, if it takes one. Its number is `len` of the places for a new place.
    fn offer(&mut self, count: usize, generator: &mut StdRng) -> Option<usize> {
        let number = self.seen;
        self.seen += 1;
        if self.places.len() < count {
            return Some(self.places.len());
        }
        let drawn = generator.random_range(0..=number);
        usize::try_from(drawn).ok().filter(|place| *place < count)
    }
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let groups = self.groups_of(&batch)?;
        let next = self.rows.batches();
        let mut taken: Vec<u32> = Vec::new();
        for row in 0..batch.num_rows() {
            let group = groups.get(row).copied().unwrap_or(0);
            if self.reservoirs.len() <= group {
                self.reservoirs.resize_with(group + 1, Reservoir::default);
            }
            let Some(reservoir) = self.reservoirs.get_mut(group) else {
                continue;
            };
            let Some(number) = reservoir.offer(self.count, &mut self.generator) else {
                continue;
            };
            let place = (next, taken.len());
            match reservoir.places.get_mut(number) {
                Some(replaced) => *replaced = place,
                None => {
                    reservoir.places.push(place);
                    self.places += 1;
                }
            }
            taken.push(row as u32);
        }
        if !taken.is_empty() {
            self.rows.add(&batch, taken)?;
            self.drop_replaced()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let reservoirs = std::mem::take(&mut self.reservoirs);
        self.ready = Some(reservoirs.into_iter().flat_map(|r| r.places).collect());
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(ready) = self.ready.as_mut().filter(|ready| !ready.is_empty()) else {
            return Ok(None);
        };
        let rest = ready.split_off(ready.len().min(self.rows.batch_rows()));
        let part = std::mem::replace(ready, rest);
        self.rows.of(&part).map(Some)
    }

    fn memory(&self) -> usize {
        self.rows.bytes()
            + self.groups.bytes()
            + self.places * size_of::<Place>()
            + self.reservoirs.capacity() * size_of::<Reservoir>()
    }

    fn done(&self) -> bool {
        self.count == 0
    }
}

impl State {
    /// The number of the group of each row; none without keys, where all rows have the number 0.
    fn groups_of(&mut self, batch: &RecordBatch) -> Result<Vec<usize>> {
        if self.keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys = self.keys.iter().map(|key| Arc::clone(batch.column(*key)));
        let keys = self.groups.encode(&keys.collect::<Vec<ArrayRef>>())?;
        keys.iter()
            .map(|key| Ok(self.groups.number(key.data())? as usize))
            .collect()
    }

    /// Copies the rows that are in a place when they are less than half of all kept rows, so that the memory stays
    /// proportional to the places.
    fn drop_replaced(&mut self) -> Result<()> {
        if self.rows.len() <= 2 * self.places + MAX_BATCH_ROWS {
            return Ok(());
        }
        let mut rows = KeptRows::default();
        let mut places: Vec<&mut Place> = self
            .reservoirs
            .iter_mut()
            .flat_map(|reservoir| &mut reservoir.places)
            .collect();
        for part in places.chunks_mut(self.rows.batch_rows()) {
            self.cancellation.check()?;
            let old: Vec<Place> = part.iter().map(|place| **place).collect();
            let number = rows.batches();
            rows.push(self.rows.of(&old)?)?;
            for (row, place) in part.iter_mut().enumerate() {
                **place = (number, row);
            }
        }
        self.rows = rows;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, StringViewArray};

    use super::*;

    #[test]
    fn the_memory_is_that_of_the_places() {
        let text = |n: usize| format!("a text that is not stored in its view, number {n}");
        let batch = |start: usize| {
            let texts = StringViewArray::from_iter_values((start..start + 1000).map(text));
            RecordBatch::try_from_iter([("t", Arc::new(texts) as ArrayRef)]).expect("a batch")
        };
        let sample = Sample {
            keys: Vec::new(),
            count: 1000,
            random: RandomSource::seeded(3),
        };
        let schema = batch(0).schema();
        let mut state = sample.start(&schema, &schema).expect("it starts");
        for start in 0..400 {
            state.push(batch(start * 1000)).expect("it is kept");
        }
        // A thousand rows take some 70,000 bytes; those that were replaced are dropped in time.
        assert!(state.memory() < 2_000_000, "{}", state.memory());
        state.finish().expect("it ends");
        let mut texts = std::collections::HashSet::new();
        while let Some(batch) = state.pop().expect("rows") {
            let column = batch.column(0).as_string_view();
            texts.extend(column.iter().flatten().map(str::to_owned));
        }
        assert_eq!(texts.len(), 1000);
    }
}
