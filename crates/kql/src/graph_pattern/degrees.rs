//! The degrees of nodes: how many edges lead to a node and from it.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_syntax::Span;
use hindsight_kql_types::ScalarType;

use crate::error::BindResult;
use crate::graph::{FROM, Graph, TO};
use crate::plan::transform;
use crate::relation::Column;
use crate::transform::{
    HeldBuffers, READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState, long_column,
};

/// The field with the number of edges to a node.
const IN: &str = "\0degree_in";

/// The field with the number of edges from a node.
const OUT: &str = "\0degree_out";

/// The column with the value of the function `node_degree_in` or `node_degree_out`; none for another name.
pub(crate) fn column(function: &str) -> Option<Column> {
    let field = match function {
        "node_degree_in" => IN,
        "node_degree_out" => OUT,
        _ => return None,
    };
    Some(Column::scratch(field, ScalarType::Long))
}

/// The columns with degrees.
pub(crate) fn columns() -> [Column; 2] {
    [IN, OUT].map(|field| Column::scratch(field, ScalarType::Long))
}

/// The graph with the degrees of its nodes as additional fields.
pub(crate) fn with_degrees(graph: Graph, span: Span) -> BindResult<Graph> {
    let fields = graph.all_rows().columns.into_iter().chain(columns());
    let rows = transform(
        Arc::new(Degrees),
        graph.plan.clone(),
        fields.collect(),
        false,
        span,
    )?;
    Ok(graph.with_plan(rows.plan))
}

/// Adds the fields [`IN`] and [`OUT`] when all edges are known.
#[derive(Debug)]
struct Degrees;

impl Transform for Degrees {
    fn name(&self) -> &'static str {
        "Degrees"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        Some([FROM, TO].map(str::to_owned).into())
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, _: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            output: Arc::clone(output),
            degrees: Vec::new(),
            rows: VecDeque::new(),
            held: HeldBuffers::default(),
            ended: false,
        }))
    }
}

struct State {
    output: SchemaRef,
    /// The number of edges to and from each node.
    degrees: Vec<[i64; 2]>,
    rows: VecDeque<RecordBatch>,
    held: HeldBuffers,
    ended: bool,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let (from, to) = (long_column(&batch, FROM)?, long_column(&batch, TO)?);
        for (from, to) in from.iter().zip(to.iter()) {
            if let (Some(from), Some(to)) = (from, to) {
                self.count(to, 0);
                self.count(from, 1);
            }
        }
        self.held.add(&batch);
        self.rows.push_back(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        if !self.ended {
            return Ok(None);
        }
        let Some(batch) = self.rows.pop_front() else {
            return Ok(None);
        };
        self.held.remove(&batch);
        Ok(Some(self.with_degrees(&batch)?))
    }

    fn memory(&self) -> usize {
        self.held.bytes() + self.degrees.capacity() * size_of::<[i64; 2]>()
    }
}

impl State {
    fn count(&mut self, node: i64, way: usize) {
        let node = node as usize;
        if self.degrees.len() <= node {
            self.degrees.resize(node + 1, [0, 0]);
        }
        let count = self.degrees.get_mut(node).and_then(|d| d.get_mut(way));
        if let Some(count) = count {
            *count += 1;
        }
    }

    /// The rows with the degrees of their nodes. The degrees in rows of edges have no meaning.
    fn with_degrees(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let from = long_column(batch, FROM)?;
        let degrees = |way: usize| -> ArrayRef {
            let of_node = |node: Option<i64>| {
                let degrees = node.and_then(|node| self.degrees.get(node as usize));
                degrees.and_then(|d| d.get(way)).copied().unwrap_or(0)
            };
            Arc::new(Int64Array::from_iter_values(from.iter().map(of_node)))
        };
        let columns = self.output.fields().iter().map(|field| {
            let column = match field.name().as_str() {
                IN => Some(degrees(0)),
                OUT => Some(degrees(1)),
                name => batch.column_by_name(name).cloned(),
            };
            column.ok_or_else(|| DataFusionError::Internal(format!("no field '{}'", field.name())))
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.output), columns)?)
    }
}
