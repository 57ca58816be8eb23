//! `tdigest` and `tdigest_merge`: the state of percentiles, stored as an opaque string in a dynamic (`docs/semantics.md §16.7`).

use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryViewBuilder};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::cast;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::build::to_kind;
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::dynamic::cells::Cells;
use crate::encoder::{encoder, finished};
use crate::states::description::{self, Description};
use crate::states::groups::GroupsUdaf;
use crate::states::quantile::Ranks;
use crate::states::ranked::Ranked;
use crate::states::sketch::{Sketch, SketchFunction, Sketches, sketch_udaf};
use crate::states::tdigest::{MaybeTdigest, Tdigest, text};

pub(crate) static LIST: &[&AggregateFunction] = &[&TDIGEST, &TDIGEST_MERGE];

static TDIGEST: AggregateFunction = AggregateFunction {
    signatures: &[
        "tdigest(expr: number, [weight: long]) -> dynamic",
        "tdigest(expr: time, [weight: long]) -> dynamic",
    ],
    aliases: &[],
    summary: "The state of percentiles, for `tdigest_merge` and `percentile_tdigest`.",
    result_name: AggregateName::Prefixed("tdigest"),
    star: false,
    examples: &[example(
        "datatable(ms:long)[10, 20, 30, 40] | summarize t = tdigest(ms) | project p = percentile_tdigest(t, 75)",
        "p:dynamic\n30",
    )],
    bind: make,
};

static TDIGEST_MERGE: AggregateFunction = AggregateFunction {
    signatures: &["tdigest_merge(tdigest: dynamic) -> dynamic"],
    aliases: &["merge_tdigest", "merge_tdigests"],
    summary: "The union of states of `tdigest`; their values must have one type.",
    result_name: AggregateName::Prefixed("merge_tdigests"),
    star: false,
    examples: &[example(
        "datatable(k:long, ms:long)[1, 10, 1, 20, 2, 30, 2, 40] | summarize t = tdigest(ms) by k | summarize m = tdigest_merge(t) | project p = percentile_tdigest(m, 100)",
        "p:dynamic\n40",
    )],
    bind: |call| {
        let merged = tdigest_merge().call(vec![call.expr(0)?]);
        call.column(merged)
    },
};

fn make(call: &AggregateCall<'_>) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let argument = call.arg(0)?;
    let kind = match argument.kind {
        ScalarType::Int => ScalarType::Long,
        other => other,
    };
    let mut args = vec![cast(argument.expr.clone(), kind.arrow())];
    let weighted = call.args.len() > 1;
    if weighted {
        args.push(to_kind(call.expr(1)?, ScalarType::Long));
    }
    call.column(tdigest(kind, weighted).call(args))
}

/// The state of `tdigest` of values of a type.
pub(super) fn tdigest(kind: ScalarType, weighted: bool) -> GroupsUdaf {
    let description = Description::Tdigest(description::Tdigest {
        kind: kind.to_string(),
        weighted,
    });
    let (name, parameters) = ("tdigest", kind.to_string());
    let result = DataType::BinaryView;
    let arguments = 1 + usize::from(weighted);
    match kind {
        ScalarType::Real => {
            let function = MakeState::<Float64Type>(kind, PhantomData);
            sketch_udaf(name, parameters, function, description, result, arguments)
        }
        ScalarType::Decimal => {
            let function = MakeState::<Decimal128Type>(kind, PhantomData);
            sketch_udaf(name, parameters, function, description, result, arguments)
        }
        _ => {
            let function = MakeState::<Int64Type>(kind, PhantomData);
            sketch_udaf(name, parameters, function, description, result, arguments)
        }
    }
}

/// The union of states of `tdigest`.
pub(super) fn tdigest_merge() -> GroupsUdaf {
    sketch_udaf(
        "tdigest_merge",
        String::new(),
        MergeStates,
        Description::TdigestMerge(()),
        DataType::BinaryView,
        1,
    )
}

/// Accumulates values of one type.
struct MakeState<T>(ScalarType, PhantomData<T>);

impl<T> Clone for MakeState<T> {
    fn clone(&self) -> Self {
        MakeState(self.0, PhantomData)
    }
}

impl<T: Ranked> SketchFunction for MakeState<T> {
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

    fn finish(&self, mut ranks: Vec<Ranks<T>>) -> Result<ArrayRef> {
        // The state of an empty group is null (`docs/semantics.md §16.2`).
        let texts = ranks.iter_mut().map(|ranks| {
            let mut bytes = Vec::new();
            (ranks.weight() > 0.0).then(|| {
                ranks.encode(&mut bytes);
                text(self.0, &bytes)
            })
        });
        let mut out = BinaryViewBuilder::new();
        let mut encoder = encoder();
        for text in texts {
            match text {
                Some(text) => {
                    encoder.string(&text);
                    out.append_value(finished(&mut encoder, "tdigest()")?);
                }
                None => out.append_null(),
            }
        }
        Ok(Arc::new(out.finish()))
    }
}

#[derive(Clone)]
struct MergeStates;

impl SketchFunction for MergeStates {
    type Sketch = MaybeTdigest;

    fn empty(&self) -> MaybeTdigest {
        MaybeTdigest(None)
    }

    fn update(
        &self,
        values: &[ArrayRef],
        groups: &[usize],
        sketches: &mut Sketches<MaybeTdigest>,
    ) -> Result<()> {
        let Some(column) = values.first() else {
            return Ok(());
        };
        let cells = Cells::new(column, ScalarType::Dynamic)?;
        let mut differ = false;
        for (row, group) in groups.iter().enumerate() {
            if let Some(state) = Tdigest::read(cells.dynamic(row)) {
                sketches.with(*group, |union| {
                    let union = union.0.get_or_insert_with(|| Tdigest::new(state.kind()));
                    differ |= !union.merge(&state);
                });
            }
        }
        if differ {
            Err(DataFusionError::Execution(
                "tdigest_merge: the states are of values of different types".to_owned(),
            ))
        } else {
            Ok(())
        }
    }

    fn finish(&self, states: Vec<MaybeTdigest>) -> Result<ArrayRef> {
        let mut out = BinaryViewBuilder::new();
        let mut encoder = encoder();
        for state in &states {
            match &state.0 {
                Some(state) => {
                    state.write(&mut encoder);
                    out.append_value(finished(&mut encoder, "tdigest()")?);
                }
                None => out.append_null(),
            }
        }
        Ok(Arc::new(out.finish()))
    }
}
