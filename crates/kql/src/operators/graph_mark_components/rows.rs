//! The row work of `graph-mark-components`.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};

use super::components::{strong, weak};
use crate::graph::{FROM, TO};
use crate::transform::{
    HeldBuffers, READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState, long_column,
};

/// Which nodes belong to one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nodes that are connected by edges in any direction.
    Weak,
    /// Nodes that reach each other along the edges.
    Strong,
}

/// Adds the field `field` with the number of the node's component; null for edges.
#[derive(Debug, Clone)]
pub(super) struct MarkComponents {
    pub(super) kind: Kind,
    pub(super) field: String,
}

impl Transform for MarkComponents {
    fn name(&self) -> &'static str {
        "MarkComponents"
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
            work: self.clone(),
            output: Arc::clone(output),
            rows: VecDeque::new(),
            held: HeldBuffers::default(),
            nodes: 0,
            edges: Vec::new(),
            components: None,
        }))
    }
}

struct State {
    work: MarkComponents,
    output: SchemaRef,
    /// All rows.
    rows: VecDeque<RecordBatch>,
    held: HeldBuffers,
    /// One more than the highest number of a node.
    nodes: usize,
    edges: Vec<(u32, u32)>,
    /// The component of each node, once all edges are known.
    components: Option<Vec<u32>>,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let (from, to) = (long_column(&batch, FROM)?, long_column(&batch, TO)?);
        for (from, to) in from.iter().zip(to.iter()) {
            // Numbers of nodes are below u32::MAX.
            let from = from.unwrap_or_default() as u32;
            self.nodes = self.nodes.max(from as usize + 1);
            if let Some(to) = to {
                self.nodes = self.nodes.max(to as usize + 1);
                self.edges.push((from, to as u32));
            }
        }
        self.held.add(&batch);
        self.rows.push_back(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let edges = std::mem::take(&mut self.edges);
        self.components = Some(match self.work.kind {
            Kind::Weak => weak(self.nodes, &edges)?,
            Kind::Strong => strong(self.nodes, &edges)?,
        });
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(components) = &self.components else {
            return Ok(None);
        };
        let Some(batch) = self.rows.pop_front() else {
            return Ok(None);
        };
        self.held.remove(&batch);
        let (from, to) = (long_column(&batch, FROM)?, long_column(&batch, TO)?);
        let of_node = |node: i64| components.get(node as usize).map(|c| i64::from(*c));
        let marks = from.iter().zip(to.iter()).map(|(from, to)| match to {
            Some(_) => None,
            None => from.and_then(of_node),
        });
        let marks: ArrayRef = Arc::new(marks.collect::<Int64Array>());
        let columns = self.output.fields().iter().map(|field| {
            if *field.name() == self.work.field {
                return Ok(Arc::clone(&marks));
            }
            let column = batch.column_by_name(field.name()).cloned();
            let missing = || DataFusionError::Internal(format!("no field '{}'", field.name()));
            column.ok_or_else(missing)
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        Ok(Some(RecordBatch::try_new(
            Arc::clone(&self.output),
            columns,
        )?))
    }

    /// The search needs some numbers for each node and edge; they are reserved before it begins.
    fn memory(&self) -> usize {
        let searched = match self.components {
            Some(_) => self.nodes * size_of::<u32>(),
            None => self.nodes * 6 * size_of::<u32>() + self.edges.capacity() * 12,
        };
        self.held.bytes() + searched
    }
}
