//! `hll`, `hll_if` and `hll_merge`: the state of a distinct count, stored as an opaque string in a dynamic (`docs/semantics.md
//! §16.7`).

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewBuilder};
use arrow::datatypes::DataType;
use datafusion::common::Result;
use hindsight_kql_syntax::{Code, Diagnostic};
use hindsight_kql_types::{Encoder, ScalarType};

use super::build::filtered;
use super::dcount::bits_of;
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::dynamic::cells::Cells;
use crate::states::description::Description;
use crate::states::groups::GroupsUdaf;
use crate::states::hyperloglog::{HyperLogLog, insert_hashes};
use crate::states::sketch::{Sketch, SketchFunction, Sketches, sketch_udaf};

pub(crate) static LIST: &[&AggregateFunction] = &[&HLL, &HLL_IF, &HLL_MERGE];

static HLL: AggregateFunction = AggregateFunction {
    signatures: &["hll(expr: any, [accuracy: const long]) -> dynamic"],
    aliases: &[],
    summary: "The state of a `dcount`, for `hll_merge` and `dcount_hll`.",
    result_name: AggregateName::Prefixed("hll"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 2] | summarize h = hll(n) | project n = dcount_hll(h)",
        "n:long\n2",
    )],
    bind: |call| bind(call, None),
};

static HLL_IF: AggregateFunction = AggregateFunction {
    signatures: &["hll_if(expr: any, predicate: bool, [accuracy: const long]) -> dynamic"],
    aliases: &[],
    summary: "The state of a `dcount` over the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("hll_if"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3] | summarize h = hll_if(n, n > 1) | project n = dcount_hll(h)",
        "n:long\n2",
    )],
    bind: |call| bind(call, Some(1)),
};

static HLL_MERGE: AggregateFunction = AggregateFunction {
    signatures: &["hll_merge(hll: dynamic) -> dynamic"],
    aliases: &[],
    summary: "The union of states of `hll`.",
    result_name: AggregateName::Prefixed("hll_merge"),
    star: false,
    examples: &[example(
        "datatable(k:long, n:long)[1, 1, 1, 2, 2, 2] | summarize h = hll(n) by k | summarize m = hll_merge(h) | project n = dcount_hll(m)",
        "n:long\n2",
    )],
    bind: |call| {
        let merged = hll_merge().call(vec![call.expr(0)?]);
        call.column(merged)
    },
};

fn bind(
    call: &AggregateCall<'_>,
    predicate: Option<usize>,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    if matches!(call.arg(0)?.kind, ScalarType::Real | ScalarType::Bool) {
        let kind = call.arg(0)?.kind;
        let message = format!("hll(): argument 1 is {kind}, which hll() does not count");
        return Err(Diagnostic::new(Code::ArgumentType, message, call.span));
    }
    let bits = bits_of(call, predicate.map_or(1, |p| p + 1))?;
    let predicate = predicate.map(|index| call.expr(index)).transpose()?;
    let state = hll(bits).call(vec![call.expr(0)?]);
    call.column(filtered(state, predicate, call.span)?)
}

/// The state of `hll` with registers of this number of index bits.
pub(super) fn hll(bits: u8) -> GroupsUdaf {
    sketch_udaf(
        "hll",
        bits.to_string(),
        MakeState { bits },
        Description::Hll(bits.into()),
        DataType::BinaryView,
        1,
    )
}

/// The union of states of `hll`.
pub(super) fn hll_merge() -> GroupsUdaf {
    sketch_udaf(
        "hll_merge",
        String::new(),
        MergeStates,
        Description::HllMerge(()),
        DataType::BinaryView,
        1,
    )
}

#[derive(Clone)]
struct MakeState {
    bits: u8,
}

/// A set that is allocated on the first insert.
struct MaybeSet(Option<HyperLogLog>);

impl Sketch for MaybeSet {
    fn heap(&self) -> usize {
        self.0.as_ref().map_or(0, Sketch::heap)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        if let Some(set) = &self.0 {
            set.encode(out);
        }
    }

    fn merge(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Some(set) => set.merge(bytes),
            None => self.0 = HyperLogLog::decode(bytes),
        }
    }
}

fn states<'a>(sets: impl Iterator<Item = Option<&'a HyperLogLog>>) -> ArrayRef {
    let mut out = BinaryViewBuilder::new();
    let mut encoder = Encoder::new();
    for set in sets {
        match set {
            Some(set) => {
                set.write(&mut encoder);
                out.append_value(encoder.finish());
            }
            None => out.append_null(),
        }
    }
    Arc::new(out.finish())
}

impl SketchFunction for MakeState {
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

    fn finish(&self, sets: Vec<HyperLogLog>) -> Result<ArrayRef> {
        // The state of an empty group is null (`docs/semantics.md §16.2`).
        Ok(states(
            sets.iter().map(|set| (set.count() > 0).then_some(set)),
        ))
    }
}

#[derive(Clone)]
struct MergeStates;

impl SketchFunction for MergeStates {
    type Sketch = MaybeSet;

    fn empty(&self) -> MaybeSet {
        MaybeSet(None)
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<MaybeSet>,
    ) -> Result<()> {
        let Some(column) = values.first() else {
            return Ok(());
        };
        let cells = Cells::new(column, ScalarType::Dynamic)?;
        let mut bytes = Vec::new();
        for (row, group) in groups.iter().enumerate() {
            if let Some(set) = HyperLogLog::read(cells.dynamic(row)) {
                bytes.clear();
                set.encode(&mut bytes);
                sketches.with(*group, |union| union.merge(&bytes));
            }
        }
        Ok(())
    }

    fn finish(&self, sets: Vec<MaybeSet>) -> Result<ArrayRef> {
        Ok(states(sets.iter().map(|set| set.0.as_ref())))
    }
}
