//! The minimum or maximum real of each group; NaN takes precedence over every number.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::datatypes::Float64Type;
use datafusion::common::Result;
use datafusion::logical_expr::EmitTo;

use super::groups::Groups;

/// The current extreme of each group; `None` for a group without values.
pub(crate) struct RealExtremes {
    largest: bool,
    best: Vec<Option<f64>>,
}

impl RealExtremes {
    /// Whether the state computes the maximum or the minimum.
    pub(crate) fn new(largest: bool) -> RealExtremes {
        RealExtremes {
            largest,
            best: Vec::new(),
        }
    }

    fn improves(&self, value: f64, best: f64) -> bool {
        if best.is_nan() {
            return false;
        }
        value.is_nan()
            || if self.largest {
                value > best
            } else {
                value < best
            }
    }
}

impl Groups for RealExtremes {
    fn grow(&mut self, total: usize) {
        self.best.resize(total, None);
    }

    fn update(&mut self, values: &[ArrayRef], groups: &[usize]) -> Result<()> {
        for array in values.iter().take(1) {
            for (value, group) in array.as_primitive::<Float64Type>().iter().zip(groups) {
                let best = self.best.get(*group).copied().flatten();
                if let Some(value) = value
                    && best.is_none_or(|best| self.improves(value, best))
                    && let Some(slot) = self.best.get_mut(*group)
                {
                    *slot = Some(value);
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        self.update(states, groups)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let best = emit.take_needed(&mut self.best);
        Ok(Arc::new(best.into_iter().collect::<Float64Array>()))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit)?])
    }

    fn size(&self) -> usize {
        self.best.capacity() * size_of::<Option<f64>>()
    }
}
