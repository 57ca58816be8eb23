//! The matches of a batch and their columns.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, BooleanArray, Int64Array,
    RecordBatch, RecordBatchOptions, UInt32Array,
};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_types::DynamicRef;

use super::columns::MatchColumn;
use super::elements::Element;
use super::expressions::{Over, PathFunction, ReadValue};
use super::topology::GraphInMemory;
use crate::encoder::{encoder, finished};
use crate::transform::{MAX_BATCH_BYTES, MAX_BATCH_ROWS};

/// The elements of paths that one batch has at most, if each is small.
const MAX_PATH_ELEMENTS: usize = 1 << 16;

/// The matches of a batch: for each column the rows of the elements that it reads.
pub(crate) struct Matches {
    columns: Vec<MatchColumn>,
    rows: Vec<Rows>,
    count: usize,
    path_elements: usize,
    max_path_elements: usize,
}

/// The rows of nodes or edges that a column reads.
enum Rows {
    /// One for each match.
    One(Vec<u32>),
    /// Several for each match; where those of each match end.
    Several { rows: Vec<u32>, ends: Vec<usize> },
    /// The number of edges for each match.
    Lengths(Vec<i64>),
}

/// A match as a search has it.
pub(crate) trait Match {
    /// The node of the graph that a node of the pattern is.
    fn node(&self, node: usize) -> Option<u32>;

    /// The edges of a step, each with the node that it leads to.
    fn path(&self, step: usize) -> impl Iterator<Item = (u32, u32)>;
}

/// A search for the matches of a pattern in a graph.
pub(crate) trait GraphSearch: Match + Send + Sized {
    /// The graph.
    fn graph(&self) -> &Arc<GraphInMemory>;

    /// Goes on to the next match; false if there is none.
    ///
    /// # Errors
    /// The query is cancelled.
    fn advance(&mut self) -> Result<bool>;

    /// The bytes that it retains beside the graph.
    fn bytes(&self) -> usize;
}

impl Matches {
    /// Creates an empty batch.
    pub(crate) fn new(columns: &[MatchColumn], graph: &GraphInMemory) -> Result<Matches> {
        let rows = columns.iter().map(|column| match column.value {
            ReadValue::Cell => Rows::One(Vec::new()),
            ReadValue::Path(..) => Rows::Several {
                rows: Vec::new(),
                ends: Vec::new(),
            },
            ReadValue::Length => Rows::Lengths(Vec::new()),
        });
        let mut largest = 1;
        for column in columns {
            if let ReadValue::Path(PathFunction::Map, _) = column.value {
                let values = values(graph, column)?;
                let bytes = values.get_buffer_memory_size() / values.len().max(1);
                largest = largest.max(bytes);
            }
        }
        Ok(Matches {
            rows: rows.collect(),
            columns: columns.to_vec(),
            count: 0,
            path_elements: 0,
            max_path_elements: (MAX_BATCH_BYTES / largest).clamp(1, MAX_PATH_ELEMENTS),
        })
    }

    /// Whether the batch has its largest size.
    pub(crate) fn is_full(&self) -> bool {
        self.count >= MAX_BATCH_ROWS || self.path_elements >= self.max_path_elements
    }

    /// Whether there is no match.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a match.
    pub(crate) fn add(&mut self, found: &impl Match, graph: &GraphInMemory) {
        let row_of = |node: u32| graph.row(node).unwrap_or_default();
        for (column, rows) in self.columns.iter().zip(&mut self.rows) {
            match (column.element, column.value, rows) {
                (Element::Node(node), _, Rows::One(rows)) => {
                    rows.push(found.node(node).map_or(0, row_of));
                }
                (Element::Step(step), _, Rows::One(rows)) => {
                    rows.push(found.path(step).next().map_or(0, |(edge, _)| edge));
                }
                (Element::Step(step), ReadValue::Path(_, over), Rows::Several { rows, ends }) => {
                    let before = rows.len();
                    match over {
                        Over::Edges => rows.extend(found.path(step).map(|(edge, _)| edge)),
                        Over::InnerNodes => {
                            rows.extend(found.path(step).map(|(_, node)| row_of(node)));
                            if rows.len() > before {
                                rows.pop();
                            }
                        }
                    }
                    self.path_elements += rows.len() - before;
                    ends.push(rows.len());
                }
                (Element::Step(step), ReadValue::Length, Rows::Lengths(lengths)) => {
                    lengths.push(found.path(step).count() as i64);
                }
                _ => {}
            }
        }
        self.count += 1;
    }

    /// The columns of the matches.
    pub(crate) fn finish(self, graph: &GraphInMemory, output: &SchemaRef) -> Result<RecordBatch> {
        let columns = self.columns.iter().zip(self.rows);
        let columns = columns.map(|(column, rows)| match rows {
            Rows::One(rows) => {
                let values = values(graph, column)?;
                Ok(take(values, &UInt32Array::from(rows), None)?)
            }
            Rows::Lengths(lengths) => Ok(Arc::new(Int64Array::from(lengths)) as ArrayRef),
            Rows::Several { rows, ends } => of_paths(graph, column, &rows, &ends),
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        let schema = Arc::clone(output);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }
}

/// The values of a column in all rows of nodes, or of edges.
fn values<'g>(graph: &'g GraphInMemory, column: &MatchColumn) -> Result<&'g ArrayRef> {
    let rows = if column.is_of_nodes() {
        &graph.nodes
    } else {
        &graph.edges
    };
    let missing = || DataFusionError::Internal(format!("no field '{}'", column.field));
    rows.column_by_name(&column.field).ok_or_else(missing)
}

fn of_paths(
    graph: &GraphInMemory,
    column: &MatchColumn,
    rows: &[u32],
    ends: &[usize],
) -> Result<ArrayRef> {
    let ReadValue::Path(function, _) = column.value else {
        return Err(DataFusionError::Internal("no path".to_owned()));
    };
    let values = values(graph, column)?;
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let paths = starts.zip(ends);
    let paths = paths.map(|(start, end)| rows.get(start..*end).unwrap_or_default());
    match function {
        PathFunction::Map => arrays(values.as_binary_view(), paths),
        PathFunction::All | PathFunction::Any => {
            let values = values.as_boolean();
            // A null predicate counts as false.
            let truth = |row: &u32| {
                let row = *row as usize;
                row < values.len() && values.is_valid(row) && values.value(row)
            };
            let truths = paths.map(|path| {
                Some(match function {
                    PathFunction::Any => path.iter().any(truth),
                    _ => path.iter().all(truth),
                })
            });
            Ok(Arc::new(truths.collect::<BooleanArray>()))
        }
    }
}

/// The arrays of the rows of each path, one after the other as one array.
fn arrays<'p>(
    values: &BinaryViewArray,
    paths: impl Iterator<Item = &'p [u32]>,
) -> Result<ArrayRef> {
    let mut builder = BinaryViewBuilder::new();
    let mut encoder = encoder();
    for path in paths {
        encoder.begin_array();
        for row in path {
            let row = *row as usize;
            if row < values.len() && values.is_valid(row) {
                let elements = DynamicRef::new(values.value(row)).iter_array();
                elements.for_each(|element| encoder.dynamic(element));
            }
        }
        encoder.end();
        let array = finished(&mut encoder, "the array of a path")?;
        builder.append_value(array);
    }
    Ok(Arc::new(builder.finish()))
}
