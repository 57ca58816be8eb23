//! Averages of ticks, whose sum can exceed 64 bits.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array, Int64Array};
use arrow::datatypes::{DataType, Decimal128Type, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::EmitTo;

use super::groups::Groups;

/// The Arrow types of the partial state: the sum and the number of values.
pub(crate) const TICK_STATES: &[DataType] = &[DataType::Decimal128(38, 0), DataType::Int64];

/// A sum and a count for each group.
#[derive(Default)]
pub(crate) struct TickAverages {
    sums: Vec<i128>,
    counts: Vec<i64>,
}

impl TickAverages {
    fn add(&mut self, group: usize, sum: i128, count: i64) {
        if let (Some(s), Some(c)) = (self.sums.get_mut(group), self.counts.get_mut(group)) {
            *s = s.wrapping_add(sum);
            *c = c.wrapping_add(count);
        }
    }
}

impl Groups for TickAverages {
    fn grow(&mut self, total: usize) {
        self.sums.resize(total, 0);
        self.counts.resize(total, 0);
    }

    fn update(&mut self, values: &[ArrayRef], groups: &[usize]) -> Result<()> {
        for array in values.iter().take(1) {
            let ticks = array.as_primitive::<Int64Type>();
            for (value, group) in ticks.iter().zip(groups) {
                if let Some(value) = value {
                    self.add(*group, i128::from(value), 1);
                }
            }
        }
        Ok(())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        if let [sums, counts] = states {
            let sums = sums.as_primitive::<Decimal128Type>();
            let counts = counts.as_primitive::<Int64Type>();
            for ((sum, count), group) in sums.iter().zip(counts.iter()).zip(groups) {
                self.add(*group, sum.unwrap_or(0), count.unwrap_or(0));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let sums = emit.take_needed(&mut self.sums);
        let counts = emit.take_needed(&mut self.counts);
        let means = sums.into_iter().zip(counts).map(|(sum, count)| {
            let mean = sum.checked_div(i128::from(count))?;
            i64::try_from(mean).ok()
        });
        Ok(Arc::new(means.collect::<Int64Array>()))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let sums = Decimal128Array::from_iter_values(emit.take_needed(&mut self.sums))
            .with_precision_and_scale(38, 0)?;
        let counts = Int64Array::from(emit.take_needed(&mut self.counts));
        Ok(vec![Arc::new(sums), Arc::new(counts)])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<i128>() + self.counts.capacity() * size_of::<i64>()
    }
}
