//! The row work of `graph-where-nodes`: drops the edges whose source or target is no node.

use std::collections::VecDeque;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{filter_record_batch, is_not_null, is_null};
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use crate::graph::{FROM, TO};
use crate::transform::{
    HeldBuffers, READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState, long_column,
};

/// Drops the edges whose source or target is no node. The rows of nodes pass; edges follow when all nodes are known.
#[derive(Debug)]
pub(super) struct WithoutDanglingEdges;

impl Transform for WithoutDanglingEdges {
    fn name(&self) -> &'static str {
        "WithoutDanglingEdges"
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

    fn start(&self, _: &SchemaRef, _: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            nodes: Vec::new(),
            edges: VecDeque::new(),
            held: HeldBuffers::default(),
            ready: None,
            ended: false,
        }))
    }
}

struct State {
    /// Whether there is a node with each number.
    nodes: Vec<bool>,
    edges: VecDeque<RecordBatch>,
    held: HeldBuffers,
    /// Rows of nodes.
    ready: Option<RecordBatch>,
    /// The input has ended.
    ended: bool,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let to = long_column(&batch, TO)?;
        let nodes = filter_record_batch(&batch, &is_null(&to)?)?;
        for node in long_column(&nodes, FROM)?.iter().flatten() {
            let node = node as usize;
            if self.nodes.len() <= node {
                self.nodes.resize(node + 1, false);
            }
            if let Some(known) = self.nodes.get_mut(node) {
                *known = true;
            }
        }
        if nodes.num_rows() < batch.num_rows() {
            let edges = filter_record_batch(&batch, &is_not_null(&to)?)?;
            self.held.add(&edges);
            self.edges.push_back(edges);
        }
        self.ready = Some(nodes);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(nodes) = self.ready.take() {
            return Ok(Some(nodes));
        }
        let Some(edges) = self.next_edges() else {
            return Ok(None);
        };
        self.held.remove(&edges);
        let known = |node: Option<i64>| {
            let known = node.and_then(|node| self.nodes.get(node as usize));
            known.copied().unwrap_or(false)
        };
        let (from, to) = (long_column(&edges, FROM)?, long_column(&edges, TO)?);
        let ends = from.iter().zip(to.iter());
        let kept: BooleanArray = ends
            .map(|(from, to)| Some(known(from) && known(to)))
            .collect();
        Ok(Some(filter_record_batch(&edges, &kept)?))
    }

    fn memory(&self) -> usize {
        self.held.bytes() + self.nodes.capacity()
    }
}

impl State {
    fn next_edges(&mut self) -> Option<RecordBatch> {
        if self.ended {
            self.edges.pop_front()
        } else {
            None
        }
    }
}
