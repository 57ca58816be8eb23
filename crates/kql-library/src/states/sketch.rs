//! Aggregates that keep one object per group: sketches, lists, bags. The partial state is the encoded object.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, LargeBinaryBuilder};
use arrow::compute::concat;
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::EmitTo;

use super::description::Description;
use super::groups::{Groups, GroupsUdaf};
use crate::work::CancellationToken;

/// The state of one group.
pub(crate) trait Sketch: Send + Sync + 'static {
    /// Heap bytes allocated. The method is called twice per row, so implementations must not recount.
    fn heap(&self) -> usize;
    /// Appends the encoding that [`Sketch::merge`] reads.
    fn encode(&self, out: &mut Vec<u8>);
    /// Merges an encoded sketch; invalid bytes are ignored.
    fn merge(&mut self, bytes: &[u8]);
}

/// An aggregate whose state is one sketch per group.
pub(crate) trait SketchFunction: Clone + Send + Sync + 'static {
    /// The sketch.
    type Sketch: Sketch;
    /// Creates the sketch of an empty group.
    fn empty(&self) -> Self::Sketch;
    /// Adds rows to the sketches of their groups.
    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<Self::Sketch>,
    ) -> Result<()>;
    /// The results.
    fn finish(&self, sketches: Vec<Self::Sketch>) -> Result<ArrayRef>;
}

/// The sketches of all groups, and their heap bytes.
pub(crate) struct Sketches<S> {
    items: Vec<S>,
    heap: usize,
    cancellation: CancellationToken,
}

/// The number of groups that are finished between two cancellation checks.
const FINISH_BATCH: usize = 1024;

impl<S: Sketch> Sketches<S> {
    /// Updates the sketch of `group`. A cancelled query skips updates, because one row may hold a million elements.
    pub(crate) fn with(&mut self, group: usize, change: impl FnOnce(&mut S)) {
        if !self.cancellation.is_cancelled() {
            self.change(group, change);
        }
    }

    /// Updates the sketch of `group` by a value that takes no longer than any other.
    pub(crate) fn change(&mut self, group: usize, change: impl FnOnce(&mut S)) {
        if let Some(sketch) = self.items.get_mut(group) {
            let before = sketch.heap();
            change(sketch);
            self.heap = (self.heap + sketch.heap()).saturating_sub(before);
        }
    }

    /// Updates the sketch of `group` by a change that allocates and frees nothing; `false` if there is no such change.
    #[inline]
    pub(crate) fn change_in_place(
        &mut self,
        group: usize,
        change: impl FnOnce(&mut S) -> bool,
    ) -> bool {
        self.items.get_mut(group).is_some_and(change)
    }

    fn take(&mut self, emit: EmitTo) -> Vec<S> {
        let taken = emit.take_needed(&mut self.items);
        let freed: usize = taken.iter().map(Sketch::heap).sum();
        self.heap = self.heap.saturating_sub(freed);
        taken
    }
}

/// The adapter of a [`SketchFunction`].
pub(crate) struct SketchGroups<F: SketchFunction> {
    function: F,
    sketches: Sketches<F::Sketch>,
}

impl<F: SketchFunction> SketchGroups<F> {
    /// A state without groups.
    pub(crate) fn new(function: F) -> SketchGroups<F> {
        SketchGroups {
            function,
            sketches: Sketches {
                items: Vec::new(),
                heap: 0,
                cancellation: CancellationToken::current(),
            },
        }
    }
}

impl<F: SketchFunction> SketchGroups<F> {
    /// Changes the sketch of each group by each of its values.
    pub(crate) fn change_each<V>(
        &mut self,
        values: impl Iterator<Item = (usize, V)>,
        change: impl Fn(&mut F::Sketch, V),
    ) -> Result<()> {
        for (group, value) in values {
            self.sketches.change(group, |sketch| change(sketch, value));
        }
        self.sketches.cancellation.check()
    }
}

impl<F: SketchFunction> Groups for SketchGroups<F> {
    fn grow(&mut self, total: usize) {
        let function = &self.function;
        self.sketches.items.resize_with(total, || function.empty());
    }

    fn update(&mut self, values: &[ArrayRef], groups: &[usize]) -> Result<()> {
        self.function.update(values, groups, &mut self.sketches)?;
        self.sketches.cancellation.check()
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        for array in states.iter().take(1) {
            let states = array.as_binary::<i64>();
            for (row, group) in groups.iter().enumerate().take(states.len()) {
                if states.is_valid(row) {
                    self.sketches
                        .with(*group, |sketch| sketch.merge(states.value(row)));
                }
            }
        }
        self.sketches.cancellation.check()
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let sketches = self.sketches.take(emit);
        if sketches.len() <= FINISH_BATCH {
            return self.function.finish(sketches);
        }
        let mut parts = Vec::new();
        let mut sketches = sketches.into_iter();
        loop {
            let some: Vec<F::Sketch> = sketches.by_ref().take(FINISH_BATCH).collect();
            if some.is_empty() {
                break;
            }
            self.sketches.cancellation.check()?;
            parts.push(self.function.finish(some)?);
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(concat(&parts)?)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut out = LargeBinaryBuilder::new();
        let mut bytes = Vec::new();
        for sketch in self.sketches.take(emit) {
            self.sketches.cancellation.check()?;
            bytes.clear();
            sketch.encode(&mut bytes);
            out.append_value(&bytes);
        }
        Ok(vec![Arc::new(out.finish())])
    }

    fn size(&self) -> usize {
        self.sketches.heap + self.sketches.items.capacity() * size_of::<F::Sketch>()
    }
}

/// The aggregate function of a sketch with this number of arguments and this type of the result. `parameters` must distinguish functions of the same
/// name.
pub(crate) fn sketch_udaf<F: SketchFunction>(
    name: &'static str,
    parameters: String,
    function: F,
    description: Description,
    result: DataType,
    arguments: usize,
) -> GroupsUdaf {
    GroupsUdaf {
        name,
        parameters,
        arguments,
        result,
        states: vec![DataType::LargeBinary],
        description,
        make: Arc::new(move || Box::new(SketchGroups::new(function.clone()))),
    }
}

/// Splits the little-endian integer at the start of `bytes` from the rest.
pub(crate) fn read_u64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*head), rest))
}
