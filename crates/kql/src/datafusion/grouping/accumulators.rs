//! The aggregates of groups.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::prep_null_mask_filter;
use arrow::record_batch::RecordBatch;
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::physical_expr::PhysicalExpr;

use super::dictionary::{CodedValues, dictionary_of};
use super::keys::Numbers;
use super::plan::{AggregatePlan, Arguments, Filter};

/// The groups of the rows of a batch.
#[derive(Debug, Default)]
pub(super) struct RowGroups {
    /// The group of each row, unless all have the same.
    pub(super) rows: Vec<u32>,
    pub(super) numbers: Option<Numbers>,
    /// The number of rows.
    pub(super) count: usize,
    /// The number of groups, of these rows and of those before.
    pub(super) total: usize,
    indexes: Vec<usize>,
}

impl RowGroups {
    /// The group of each row, as DataFusion's accumulators take them.
    fn indexes(&mut self) -> &[usize] {
        if self.indexes.len() != self.count {
            match self.numbers {
                Some(Numbers::Same(group)) => self.indexes.resize(self.count, group as usize),
                _ => self
                    .indexes
                    .extend(self.rows.iter().map(|group| *group as usize)),
            }
        }
        &self.indexes
    }

    /// Begins the groups of the next batch.
    pub(super) fn begin(&mut self, count: usize) {
        self.count = count;
        self.indexes.clear();
    }
}

/// One aggregate over all groups.
pub(super) struct Aggregate {
    accumulator: Accumulator,
    filter: Option<RowFilter>,
}

enum Accumulator {
    /// The number of rows of each group.
    Rows(Vec<i64>),
    /// Any other, over a dictionary.
    Coded(usize, Box<dyn GroupsAccumulator>),
    /// Any other, over its arguments.
    Other(Vec<Arc<dyn PhysicalExpr>>, Box<dyn GroupsAccumulator>),
}

enum RowFilter {
    /// Whether each code of the latest dictionary passes.
    Coded(CodedValues, Vec<bool>),
    Values(Arc<dyn PhysicalExpr>),
}

impl Aggregate {
    /// An aggregate without groups.
    pub(super) fn new(plan: &AggregatePlan) -> Result<Aggregate> {
        Ok(Aggregate {
            accumulator: match &plan.arguments {
                Arguments::Rows => Accumulator::Rows(Vec::new()),
                Arguments::Dictionary(column) => {
                    Accumulator::Coded(*column, plan.function.create_groups_accumulator()?)
                }
                Arguments::Values(arguments) => Accumulator::Other(
                    arguments.clone(),
                    plan.function.create_groups_accumulator()?,
                ),
            },
            filter: plan.filter.clone().map(|filter| match filter {
                Filter::Coded(coded) => RowFilter::Coded(CodedValues::new(coded), Vec::new()),
                Filter::Values(expr) => RowFilter::Values(expr),
            }),
        })
    }

    /// Adds the rows of a batch; `read` has the columns that arguments and filters read.
    pub(super) fn add(
        &mut self,
        batch: &RecordBatch,
        read: &RecordBatch,
        groups: &mut RowGroups,
    ) -> Result<()> {
        let filter = match &mut self.filter {
            Some(filter) => Some(filter.rows(batch, read)?),
            None => None,
        };
        match &mut self.accumulator {
            Accumulator::Rows(counts) => {
                counts.resize(groups.total, 0);
                count(counts, groups, filter.as_ref());
                Ok(())
            }
            Accumulator::Coded(column, accumulator) => {
                let values: Vec<ArrayRef> =
                    batch.columns().get(*column).cloned().into_iter().collect();
                let total = groups.total;
                accumulator.update_batch(&values, groups.indexes(), filter.as_ref(), total)
            }
            Accumulator::Other(arguments, accumulator) => {
                let values = arguments
                    .iter()
                    .map(|argument| argument.evaluate(read)?.into_array(read.num_rows()));
                let values = values.collect::<Result<Vec<_>>>()?;
                let total = groups.total;
                accumulator.update_batch(&values, groups.indexes(), filter.as_ref(), total)
            }
        }
    }

    /// The partial states of all groups.
    pub(super) fn states(&mut self) -> Result<Vec<ArrayRef>> {
        match &mut self.accumulator {
            Accumulator::Rows(counts) => {
                Ok(vec![Arc::new(Int64Array::from(std::mem::take(counts)))])
            }
            Accumulator::Coded(_, accumulator) | Accumulator::Other(_, accumulator) => {
                accumulator.state(EmitTo::All)
            }
        }
    }

    /// Bytes.
    pub(super) fn size(&self) -> usize {
        match &self.accumulator {
            Accumulator::Rows(counts) => counts.capacity() * size_of::<i64>(),
            Accumulator::Coded(_, accumulator) | Accumulator::Other(_, accumulator) => {
                accumulator.size()
            }
        }
    }
}

/// Counts the rows of each group, or those that pass a filter without nulls.
fn count(counts: &mut [i64], groups: &RowGroups, filter: Option<&BooleanArray>) {
    if let Some(Numbers::Same(group)) = groups.numbers {
        let rows = filter.map_or(groups.count, BooleanArray::true_count);
        if let Some(count) = counts.get_mut(group as usize) {
            *count += i64::try_from(rows).unwrap_or(i64::MAX);
        }
        return;
    }
    match filter {
        None => {
            for group in &groups.rows {
                if let Some(count) = counts.get_mut(*group as usize) {
                    *count += 1;
                }
            }
        }
        Some(filter) => {
            for (group, passes) in groups.rows.iter().zip(filter.values()) {
                if let Some(count) = counts.get_mut(*group as usize) {
                    *count += i64::from(passes);
                }
            }
        }
    }
}

impl RowFilter {
    /// For each row whether it passes, without nulls.
    fn rows(&mut self, batch: &RecordBatch, read: &RecordBatch) -> Result<BooleanArray> {
        let passes = match self {
            RowFilter::Values(expr) => expr.evaluate(read)?.into_array(read.num_rows())?,
            RowFilter::Coded(coded, matches) => {
                let dictionary = dictionary_of(batch, coded.column())?;
                match coded.of(dictionary.values()) {
                    (Some(values), is_new) => {
                        if is_new {
                            *matches = without_nulls(values)?.values().iter().collect();
                        }
                        let mut codes = dictionary.keys().values().iter();
                        let passes = BooleanBuffer::collect_bool(dictionary.len(), |_| {
                            let code = codes.next().map(|code| *code as usize);
                            code.and_then(|code| matches.get(code)).is_some_and(|m| *m)
                        });
                        return Ok(BooleanArray::from(passes));
                    }
                    (None, _) => coded.of_rows(dictionary)?,
                }
            }
        };
        without_nulls(&passes)
    }
}

fn without_nulls(passes: &ArrayRef) -> Result<BooleanArray> {
    let passes = passes
        .as_boolean_opt()
        .ok_or_else(|| internal_datafusion_err!("the filter of an aggregate is not a bool"))?;
    Ok(if passes.null_count() > 0 {
        prep_null_mask_filter(passes)
    } else {
        passes.clone()
    })
}
