//! The first rows of a relation, or of each of its subtables.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_syntax::Span;

use crate::error::BindResult;
use crate::plan::transform;
use crate::plan::{limit, subtable_keys};
use crate::relation::{Column, Relation};
use crate::transform::{
    InOrder, READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState,
};

/// At most `count` rows; inside `mv-apply` and `partition`, at most `count` rows of each subtable.
pub(crate) fn limit_groups(input: Relation, count: usize, span: Span) -> BindResult<Relation> {
    let keys: Vec<String> = subtable_keys(&input).into_iter().map(|c| c.name).collect();
    if keys.is_empty() {
        return Ok(limit(input, count));
    }
    limit_by(input.finish(span)?, keys, count, span)
}

/// The first `count` rows of each combination of the fields `keys`, in the order of `input`.
pub(crate) fn limit_by(
    input: Relation,
    keys: Vec<String>,
    count: usize,
    span: Span,
) -> BindResult<Relation> {
    limited(input, keys, count, false, span)
}

/// One row of each combination of the fields `keys`, any of them: predicate pushdown may determine which.
pub(crate) fn any_row_by(input: Relation, keys: Vec<String>, span: Span) -> BindResult<Relation> {
    limited(input, keys, 1, true, span)
}

fn limited(
    input: Relation,
    keys: Vec<String>,
    count: usize,
    any_row: bool,
    span: Span,
) -> BindResult<Relation> {
    let columns = input.columns.iter().map(Column::under_its_name).collect();
    let work = GroupLimit {
        keys,
        count,
        any_row,
    };
    transform(Arc::new(work), input.plan, columns, input.serialized, span)
}

/// The same rows as one stream in their order, if they have one. The following operators depend on the order (`make_list`
/// after `sort`), and the optimiser keeps a sort only for a node that requires it.
pub(crate) fn in_order(input: Relation, span: Span) -> BindResult<Relation> {
    if !input.serialized {
        return Ok(input);
    }
    let columns = input.columns.clone();
    let fields: Vec<_> = input
        .plan
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let known = |name: &String| input.columns.iter().find(|c| c.field == *name);
    if fields.iter().all(|name| known(name).is_some()) {
        let input = input.finish(span)?;
        let columns = input.columns.iter().map(Column::under_its_name).collect();
        transform(Arc::new(InOrder), input.plan, columns, true, span)
    } else {
        Ok(Relation { columns, ..input })
    }
}

#[derive(Debug)]
struct GroupLimit {
    keys: Vec<String>,
    count: usize,
    /// Predicates may be pushed below this transform.
    any_row: bool,
}

impl Transform for GroupLimit {
    fn name(&self) -> &'static str {
        "GroupLimit"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn allows_predicate_pushdown(&self) -> bool {
        self.any_row
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        Some(self.keys.clone())
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, input: &SchemaRef, _: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let indices = self
            .keys
            .iter()
            .map(|key| Ok(input.index_of(key)?))
            .collect::<Result<Vec<usize>>>()?;
        let fields = indices
            .iter()
            .filter_map(|i| input.fields().get(*i))
            .map(|f| SortField::new(f.data_type().clone()))
            .collect();
        Ok(Box::new(State {
            indices,
            converter: RowConverter::new(fields)?,
            seen: HashMap::new(),
            bytes: 0,
            count: self.count,
            ready: None,
        }))
    }
}

struct State {
    indices: Vec<usize>,
    converter: RowConverter,
    seen: HashMap<OwnedRow, usize>,
    bytes: usize,
    count: usize,
    ready: Option<RecordBatch>,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let keys: Vec<ArrayRef> = self
            .indices
            .iter()
            .filter_map(|i| batch.columns().get(*i).cloned())
            .collect();
        let rows = self
            .converter
            .convert_columns(&keys)
            .map_err(DataFusionError::from)?;
        let keep: BooleanArray = rows
            .iter()
            .map(|row| {
                let seen = self.seen.entry(row.owned()).or_insert_with(|| {
                    self.bytes += row.as_ref().len() + 64;
                    0
                });
                *seen += 1;
                Some(*seen <= self.count)
            })
            .collect();
        self.ready = Some(filter_record_batch(&batch, &keep)?);
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.ready.take())
    }

    fn memory(&self) -> usize {
        self.bytes
    }
}
