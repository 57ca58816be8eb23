//! The rows of a graph in memory: its nodes and edges, and which edges lead from and to each node.

use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::{concat_batches, filter_record_batch, is_not_null, is_null};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{DataFusionError, Result};

use crate::graph::{FROM, TO};
use crate::transform::{HeldBuffers, long_column};
use crate::work::CancellationToken;

/// No row.
const NONE: u32 = u32::MAX;

/// The number of steps of a loop between two checks for cancellation.
pub(crate) const CHECK_INTERVAL: usize = 1 << 14;

/// Collects the rows of a graph.
pub(crate) struct GraphRows {
    nodes: Vec<RecordBatch>,
    edges: Vec<RecordBatch>,
    node_schema: SchemaRef,
    edge_schema: SchemaRef,
    held: HeldBuffers,
    /// The number of rows.
    rows: usize,
}

impl GraphRows {
    /// Creates an empty container that keeps only these fields of nodes and of edges, beside the numbers of nodes.
    pub(crate) fn new(
        input: &SchemaRef,
        node_fields: &[&str],
        edge_fields: &[&str],
    ) -> Result<GraphRows> {
        let schema = |own: &[&str], names: &[&str]| -> Result<SchemaRef> {
            let fields = input.fields().iter().filter(|field| {
                let name = field.name().as_str();
                own.contains(&name) || names.contains(&name)
            });
            Ok(Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>())))
        };
        Ok(GraphRows {
            nodes: Vec::new(),
            edges: Vec::new(),
            node_schema: schema(&[FROM], node_fields)?,
            edge_schema: schema(&[FROM, TO], edge_fields)?,
            held: HeldBuffers::default(),
            rows: 0,
        })
    }

    /// Adds rows of nodes and edges.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let to = long_column(batch, TO)?;
        let nodes = selected(batch, &self.node_schema, &is_null(&to)?)?;
        let edges = selected(batch, &self.edge_schema, &is_not_null(&to)?)?;
        for (rows, list) in [(nodes, &mut self.nodes), (edges, &mut self.edges)] {
            if rows.num_rows() > 0 {
                self.held.add(&rows);
                self.rows += rows.num_rows();
                list.push(rows);
            }
        }
        Ok(())
    }

    /// The bytes that the rows need, including their copy and the lists of [`GraphRows::finish`].
    pub(crate) fn bytes(&self) -> usize {
        2 * self.held.bytes() + self.rows * 32
    }

    /// The graph.
    ///
    /// # Errors
    /// There are too many rows, or the query is cancelled.
    pub(crate) fn finish(&mut self) -> Result<GraphInMemory> {
        let nodes = concat_batches(&self.node_schema, &std::mem::take(&mut self.nodes))?;
        let edges = concat_batches(&self.edge_schema, &std::mem::take(&mut self.edges))?;
        self.held = HeldBuffers::default();
        self.rows = 0;
        GraphInMemory::new(nodes, edges)
    }
}

/// The rows of `batch` for which `keep` is true, with the fields of `schema`.
fn selected(batch: &RecordBatch, schema: &SchemaRef, keep: &BooleanArray) -> Result<RecordBatch> {
    let columns = schema.fields().iter().map(|field| {
        let column = batch.column_by_name(field.name()).cloned();
        column.ok_or_else(|| DataFusionError::Internal(format!("no field '{}'", field.name())))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let batch = RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?;
    Ok(filter_record_batch(&batch, keep)?)
}

/// A graph in memory.
pub(crate) struct GraphInMemory {
    /// The rows of nodes.
    pub(crate) nodes: RecordBatch,
    /// The rows of edges; an edge is identified by its row.
    pub(crate) edges: RecordBatch,
    /// The row of each node by its number; [`NONE`] for a number without a node.
    rows: Vec<u32>,
    /// The edges from each node.
    outgoing: Adjacency,
    /// The edges to each node.
    incoming: Adjacency,
    bytes: usize,
}

impl GraphInMemory {
    fn new(nodes: RecordBatch, edges: RecordBatch) -> Result<GraphInMemory> {
        if nodes.num_rows().max(edges.num_rows()) >= NONE as usize {
            let message = format!("a graph has at most {NONE} nodes and edges");
            return Err(DataFusionError::ResourcesExhausted(message));
        }
        let mut rows = Vec::new();
        for (row, node) in long_column(&nodes, FROM)?.values().iter().enumerate() {
            let node = *node as usize;
            if rows.len() <= node {
                rows.resize(node + 1, NONE);
            }
            if let Some(place) = rows.get_mut(node) {
                *place = row as u32;
            }
        }
        let number = |node: &i64| *node as u32;
        let from: Vec<u32> = long_column(&edges, FROM)?
            .values()
            .iter()
            .map(number)
            .collect();
        let to: Vec<u32> = long_column(&edges, TO)?
            .values()
            .iter()
            .map(number)
            .collect();
        let outgoing = Adjacency::new(rows.len(), &from, &to)?;
        let incoming = Adjacency::new(rows.len(), &to, &from)?;
        let mut held = HeldBuffers::default();
        held.add(&nodes);
        held.add(&edges);
        Ok(GraphInMemory {
            bytes: held.bytes() + rows.capacity() * 4 + outgoing.bytes() + incoming.bytes(),
            nodes,
            edges,
            rows,
            outgoing,
            incoming,
        })
    }

    /// One more than the highest number of a node.
    pub(crate) fn numbers(&self) -> u32 {
        self.rows.len() as u32
    }

    /// The row of the node with this number.
    pub(crate) fn row(&self, node: u32) -> Option<u32> {
        let row = self.rows.get(node as usize).copied();
        row.filter(|row| *row != NONE)
    }

    /// The link with this position among the edges from a node, to it, or both.
    pub(crate) fn link(&self, node: u32, [from, to]: [bool; 2], position: usize) -> Option<Link> {
        let outgoing = if from { self.outgoing.of(node) } else { &[] };
        let incoming = if to { self.incoming.of(node) } else { &[] };
        let link = outgoing.get(position);
        link.or_else(|| incoming.get(position.checked_sub(outgoing.len())?))
            .copied()
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// An edge as a node sees it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Link {
    /// The edge.
    pub(crate) edge: u32,
    /// The node at its other end.
    pub(crate) node: u32,
}

/// The edges of each node, in compressed sparse rows.
struct Adjacency {
    /// Where the links of each node begin, and where the last ones end.
    starts: Vec<u32>,
    links: Vec<Link>,
}

impl Adjacency {
    fn new(nodes: usize, of: &[u32], others: &[u32]) -> Result<Adjacency> {
        let cancellation = CancellationToken::current();
        let mut starts = vec![0_u32; nodes + 1];
        for (index, node) in of.iter().enumerate() {
            if index.is_multiple_of(CHECK_INTERVAL) {
                cancellation.check()?;
            }
            if let Some(count) = starts.get_mut(*node as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut places = starts.clone();
        let mut links = vec![Link::default(); of.len()];
        for (edge, (node, other)) in of.iter().zip(others).enumerate() {
            if edge.is_multiple_of(CHECK_INTERVAL) {
                cancellation.check()?;
            }
            let Some(place) = places.get_mut(*node as usize) else {
                continue;
            };
            if let Some(link) = links.get_mut(*place as usize) {
                *link = Link {
                    edge: edge as u32,
                    node: *other,
                };
            }
            *place += 1;
        }
        Ok(Adjacency { starts, links })
    }

    fn of(&self, node: u32) -> &[Link] {
        let node = node as usize;
        let start = self.starts.get(node).copied().unwrap_or_default() as usize;
        let end = self.starts.get(node + 1).copied().unwrap_or_default() as usize;
        self.links.get(start..end).unwrap_or_default()
    }

    fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u32>() + self.links.capacity() * size_of::<Link>()
    }
}
