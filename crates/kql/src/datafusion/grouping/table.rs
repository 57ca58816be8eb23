//! The groups of one partition and their aggregates.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::take;
use arrow::datatypes::{SchemaRef, UInt32Type};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{Result, internal_datafusion_err};

use super::accumulators::{Aggregate, RowGroups};
use super::groups::Pairs;
use super::keys::KeyNumbers;
use super::plan::{GroupPlan, Key};

/// Groups rows and aggregates them.
pub(super) struct GroupTable {
    plan: Arc<GroupPlan>,
    schema: SchemaRef,
    /// The keys in the order in which they are combined: bins of time first, since consecutive rows often share them. Each has its
    /// place in the output.
    keys: Vec<(usize, KeyNumbers)>,
    /// The groups of the first two keys, of these and the third, and so on.
    pairs: Vec<Pairs>,
    aggregates: Vec<Aggregate>,
    groups: RowGroups,
    /// The numbers of one key for the rows of a batch.
    numbers: Vec<u32>,
}

impl GroupTable {
    /// A table without groups; `schema` is that of its output.
    pub(super) fn new(plan: &Arc<GroupPlan>, schema: &SchemaRef) -> Result<GroupTable> {
        let mut keys = Vec::with_capacity(plan.keys.len());
        for (place, key) in plan.keys.iter().enumerate() {
            keys.push((place, KeyNumbers::new(key, schema.field(place).data_type())));
        }
        keys.sort_by_key(|(place, _)| match plan.keys.get(*place) {
            Some(Key::Bins { .. }) => (0, *place),
            _ => (1, *place),
        });
        let aggregates = plan.aggregates.iter().map(Aggregate::new);
        Ok(GroupTable {
            pairs: keys.iter().skip(1).map(|_| Pairs::default()).collect(),
            keys,
            aggregates: aggregates.collect::<Result<_>>()?,
            groups: RowGroups::default(),
            numbers: Vec::new(),
            plan: Arc::clone(plan),
            schema: Arc::clone(schema),
        })
    }

    /// Adds the rows of a batch.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.groups.begin(batch.num_rows());
        self.group(batch)?;
        let read = self.read(batch)?;
        for aggregate in &mut self.aggregates {
            aggregate.add(batch, &read, &mut self.groups)?;
        }
        Ok(())
    }

    fn group(&mut self, batch: &RecordBatch) -> Result<()> {
        let groups = &mut self.groups;
        let mut keys = self.keys.iter_mut();
        let Some((_, first)) = keys.next() else {
            return Ok(());
        };
        let mut numbers = first.of(batch, &mut groups.rows)?;
        let mut total = first.len();
        for ((_, key), pairs) in keys.zip(&mut self.pairs) {
            let of_key = key.of(batch, &mut self.numbers)?;
            let before = (&mut groups.rows, numbers, total);
            numbers = pairs.combine(before, (&self.numbers, of_key, key.len()))?;
            total = pairs.len();
        }
        (groups.numbers, groups.total) = (Some(numbers), total);
        Ok(())
    }

    /// The columns that arguments and filters of aggregates read, with texts for dictionaries.
    fn read(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.plan.read.iter().map(|column| {
            let array = batch.columns().get(*column);
            let array =
                array.ok_or_else(|| internal_datafusion_err!("a batch has no column {column}"))?;
            match array.as_dictionary_opt::<UInt32Type>() {
                Some(coded) => Ok(take(coded.values(), coded.keys(), None)?),
                None => Ok(Arc::clone(array)),
            }
        });
        let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = Arc::clone(&self.plan.read_schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }

    /// The number of groups.
    pub(super) fn len(&self) -> usize {
        self.groups.total
    }

    /// Bytes.
    pub(super) fn size(&self) -> usize {
        let keys: usize = self.keys.iter().map(|(_, key)| key.size()).sum();
        let pairs: usize = self.pairs.iter().map(Pairs::size).sum();
        let aggregates: usize = self.aggregates.iter().map(Aggregate::size).sum();
        keys + pairs + aggregates
    }

    /// The keys and the states of all groups; the table is empty after it. `None` if it was before.
    pub(super) fn take(&mut self) -> Result<Option<RecordBatch>> {
        let empty = GroupTable::new(&self.plan, &self.schema)?;
        let mut full = std::mem::replace(self, empty);
        if full.len() == 0 {
            return Ok(None);
        }
        let columns = full.columns()?;
        Ok(Some(RecordBatch::try_new(
            Arc::clone(&full.schema),
            columns,
        )?))
    }

    fn columns(&mut self) -> Result<Vec<ArrayRef>> {
        let total = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let mut numbers: Vec<u32> = (0..total).collect();
        let mut keys: Vec<(usize, ArrayRef)> = Vec::with_capacity(self.keys.len());
        let mut rest = self.keys.iter().rev().peekable();
        let mut pairs = self.pairs.iter().rev();
        while let Some((place, key)) = rest.next() {
            let of_key = match pairs.next() {
                Some(pairs) if rest.peek().is_some() => {
                    let (first, second): (Vec<u32>, Vec<u32>) =
                        numbers.iter().map(|group| pairs.pair(*group)).unzip();
                    numbers = first;
                    second
                }
                _ => std::mem::take(&mut numbers),
            };
            keys.push((*place, key.array(of_key.into_iter())?));
        }
        keys.sort_by_key(|(place, _)| *place);
        let mut columns: Vec<ArrayRef> = keys.into_iter().map(|(_, array)| array).collect();
        for aggregate in &mut self.aggregates {
            columns.extend(aggregate.states()?);
        }
        Ok(columns)
    }
}
