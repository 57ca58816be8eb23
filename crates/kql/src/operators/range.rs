//! `range`: equidistant values, both bounds inclusive (`docs/semantics.md §15.1`).

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Float64Array, Int64Array, RecordBatch,
};
use arrow::datatypes::{Decimal128Type, Float64Type, Int64Type, SchemaRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use hindsight_kql_syntax::ast::RangeOperator;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{DECIMAL_SCALE, ScalarType};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::convert::{convert, widest};
use crate::error::BindResult;
use crate::kernel::KernelError;
use crate::plan::transform;
use crate::relation::Relation;
use crate::transform::{READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState};

const BATCH_ROWS: i128 = 8192;

impl TabularOperator for RangeOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &RangeOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let from = binder.bind_scalar(&node.from, &input)?;
    let to = binder.bind_scalar(&node.to, &input)?;
    let step = binder.bind_scalar(&node.step, &input)?;
    let Some((kind, step_kind)) = kinds(from.kind, to.kind, step.kind) else {
        return Err(binder.error(
            Code::Semantics,
            format!(
                "a range from {} to {} with a step of {} is not defined",
                from.kind, to.kind, step.kind
            ),
            span,
        ));
    };
    let fields = vec![
        ("from".to_owned(), kind, convert(from, kind).expr),
        ("to".to_owned(), kind, convert(to, kind).expr),
        ("step".to_owned(), step_kind, convert(step, step_kind).expr),
    ];
    let bounds = input.project(fields, span)?;
    let columns = vec![(node.column.text.clone(), kind)];
    transform(Arc::new(Steps { kind }), bounds.plan, columns, true, span)
}

/// The types of the values and of the step; `int` is converted to `long`.
fn kinds(from: ScalarType, to: ScalarType, step: ScalarType) -> Option<(ScalarType, ScalarType)> {
    match (from, to, step) {
        (ScalarType::DateTime, ScalarType::DateTime, ScalarType::TimeSpan) => Some((from, step)),
        (ScalarType::TimeSpan, ScalarType::TimeSpan, ScalarType::TimeSpan) => Some((from, step)),
        _ => match widest(widest(from, to)?, step)? {
            ScalarType::Int => Some((ScalarType::Long, ScalarType::Long)),
            kind => Some((kind, kind)),
        },
    }
}

/// Turns the single row of bounds into the values.
#[derive(Debug)]
struct Steps {
    kind: ScalarType,
}

impl Transform for Steps {
    fn name(&self) -> &'static str {
        "Range"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    /// The cardinality estimate is exact if the bounds are constants.
    fn estimated_rows(&self, input: &Arc<dyn ExecutionPlan>, _: usize) -> usize {
        let bounds = constant_row(input).map(|row| Bounds::of_row(&row, self.kind));
        let count = match bounds {
            Some(Ok(bounds)) => bounds.map_or(0, Bounds::count),
            Some(Err(_)) | None => return usize::MAX,
        };
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, _: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            kind: self.kind,
            schema: Arc::clone(output),
            bounds: None,
            next: 0,
        }))
    }
}

/// The row of a projection of constants; none for any other plan.
fn constant_row(plan: &Arc<dyn ExecutionPlan>) -> Option<Vec<ArrayRef>> {
    let constant = |column: &ProjectionExpr| {
        let literal = column.expr.downcast_ref::<Literal>()?;
        literal.value().to_array().ok()
    };
    let row = plan.downcast_ref::<ProjectionExec>()?;
    row.expr().iter().map(constant).collect()
}

/// The bounds: exact for integers, ticks and decimals.
#[derive(Clone, Copy)]
enum Bounds {
    Exact { from: i128, step: i128, count: i128 },
    Real { from: f64, step: f64, count: i128 },
}

impl Bounds {
    /// The bounds in the first row of `columns`; none if one is null.
    fn of_row(columns: &[ArrayRef], kind: ScalarType) -> Result<Option<Bounds>> {
        let [from, to, step] = columns else {
            return Err(DataFusionError::Internal(
                "a range without bounds".to_owned(),
            ));
        };
        let known = columns.iter().all(|c| !c.is_empty() && c.is_valid(0));
        let zero = match kind {
            ScalarType::Real => known && real(step) == 0.0,
            _ => known && exact(step) == 0,
        };
        if zero {
            let error = KernelError::Failed("range: the step must not be zero".to_owned());
            return Err(DataFusionError::External(Box::new(error)));
        }
        Ok(match (known, kind) {
            (false, _) => None,
            (true, ScalarType::Real) => real_bounds(real(from), real(to), real(step)),
            (true, _) => exact_bounds(exact(from), exact(to), exact(step)),
        })
    }

    /// The number of values.
    fn count(self) -> i128 {
        match self {
            Bounds::Exact { count, .. } | Bounds::Real { count, .. } => count,
        }
    }
}

struct State {
    kind: ScalarType,
    schema: SchemaRef,
    bounds: Option<Bounds>,
    next: i128,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.bounds = Bounds::of_row(batch.columns(), self.kind)?;
        self.next = 0;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(bounds) = self.bounds else {
            return Ok(None);
        };
        let end = bounds.count().min(self.next + BATCH_ROWS);
        if self.next >= end {
            return Ok(None);
        }
        let numbers = self.next..end;
        let array: ArrayRef = match bounds {
            Bounds::Real { from, step, .. } => Arc::new(Float64Array::from_iter_values(
                numbers.map(|n| from + n as f64 * step),
            )),
            Bounds::Exact { from, step, .. } if self.kind == ScalarType::Decimal => {
                let values = Decimal128Array::from_iter_values(numbers.map(|n| from + n * step));
                Arc::new(values.with_precision_and_scale(38, DECIMAL_SCALE)?)
            }
            // All values between two 64-bit bounds are 64-bit.
            Bounds::Exact { from, step, .. } => Arc::new(Int64Array::from_iter_values(
                numbers.map(|n| (from + n * step) as i64),
            )),
        };
        self.next = end;
        Ok(Some(RecordBatch::try_new(
            Arc::clone(&self.schema),
            vec![array],
        )?))
    }
}

fn exact_bounds(from: i128, to: i128, step: i128) -> Option<Bounds> {
    let count = to.checked_sub(from)?.checked_div(step)?;
    let wrong_way = (to > from && step < 0) || (to < from && step > 0);
    (!wrong_way).then_some(Bounds::Exact {
        from,
        step,
        count: count + 1,
    })
}

fn real_bounds(from: f64, to: f64, step: f64) -> Option<Bounds> {
    let count = ((to - from) / step).floor();
    (count.is_finite() && count >= 0.0).then_some(Bounds::Real {
        from,
        step,
        count: (count as i128).saturating_add(1),
    })
}

fn real(array: &ArrayRef) -> f64 {
    array
        .as_primitive_opt::<Float64Type>()
        .map_or(f64::NAN, |a| a.value(0))
}

fn exact(array: &ArrayRef) -> i128 {
    match array.as_primitive_opt::<Int64Type>() {
        Some(array) => i128::from(array.value(0)),
        None => array
            .as_primitive_opt::<Decimal128Type>()
            .map_or(0, |a| a.value(0)),
    }
}
