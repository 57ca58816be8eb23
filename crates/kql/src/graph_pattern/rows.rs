//! The row work of searches in a graph, and of `graph-match`.

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use super::columns::MatchColumn;
use super::matches::{GraphSearch, Matches};
use super::pattern::Pattern;
use super::search::{Candidates, Search};
use super::topology::{GraphInMemory, GraphRows};
use crate::graph::FROM;
use crate::transform::{
    READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState, long_column,
};

/// The fields of the rows of a graph that a search reads.
#[derive(Debug, Clone)]
pub(crate) struct SearchFields {
    /// The columns of the matches.
    pub(crate) columns: Vec<MatchColumn>,
    /// The predicate of each node of the pattern.
    pub(crate) nodes: Vec<Option<String>>,
    /// The predicate of the edges of each step.
    pub(crate) steps: Vec<Option<String>>,
    /// The predicate of the inner nodes of each step.
    pub(crate) inner_nodes: Vec<Option<String>>,
}

impl SearchFields {
    /// A container for the rows of the graph.
    pub(crate) fn rows(&self, input: &SchemaRef) -> Result<GraphRows> {
        let of_nodes = self.columns.iter().filter(|column| column.is_of_nodes());
        let of_edges = self.columns.iter().filter(|column| !column.is_of_nodes());
        let predicates = self.nodes.iter().chain(&self.inner_nodes).flatten();
        let nodes: Vec<&str> = of_nodes
            .map(|column| column.field.as_str())
            .chain(predicates.map(String::as_str))
            .collect();
        let edges: Vec<&str> = of_edges
            .map(|column| column.field.as_str())
            .chain(self.steps.iter().flatten().map(String::as_str))
            .collect();
        GraphRows::new(input, &nodes, &edges)
    }

    /// The nodes and edges that fulfil the predicates.
    pub(crate) fn candidates(&self, graph: &GraphInMemory) -> Result<Candidates> {
        let numbers = long_column(&graph.nodes, FROM)?;
        let of_nodes = |field: &Option<String>| {
            let truths = truths(&graph.nodes, field.as_deref())?;
            let mut list = vec![false; graph.numbers() as usize];
            for (number, truth) in numbers.values().iter().zip(truths) {
                if let Some(place) = list.get_mut(*number as usize) {
                    *place = truth;
                }
            }
            Some(list)
        };
        Ok(Candidates {
            nodes: self.nodes.iter().map(of_nodes).collect(),
            inner_nodes: self.inner_nodes.iter().map(of_nodes).collect(),
            steps: self
                .steps
                .iter()
                .map(|field| truths(&graph.edges, field.as_deref()))
                .collect(),
        })
    }
}

/// Whether the predicate is true in each row; none without a predicate.
fn truths(rows: &RecordBatch, field: Option<&str>) -> Option<Vec<bool>> {
    let values = rows.column_by_name(field?)?.as_boolean();
    let truth = |row| values.is_valid(row) && values.value(row);
    Some((0..values.len()).map(truth).collect())
}

/// A transform of the rows of a graph into the matches of a search.
pub(crate) trait SearchTransform: Clone + Send + 'static {
    /// The search.
    type Search: GraphSearch;

    /// The fields that the search reads.
    fn fields(&self) -> &SearchFields;

    /// Begins a search; `None` if there is nothing to find.
    fn search(&self, graph: Arc<GraphInMemory>, candidates: Candidates) -> Option<Self::Search>;

    /// The state of the transform at the beginning of its input.
    fn start_search(
        &self,
        input: &SchemaRef,
        output: &SchemaRef,
    ) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            rows: self.fields().rows(input)?,
            work: self.clone(),
            output: Arc::clone(output),
            search: None,
        }))
    }
}

struct State<T: SearchTransform> {
    work: T,
    output: SchemaRef,
    rows: GraphRows,
    /// The search, once the graph is complete.
    search: Option<T::Search>,
}

impl<T: SearchTransform> TransformState for State<T> {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.rows.add(&batch)
    }

    fn finish(&mut self) -> Result<()> {
        let graph = Arc::new(self.rows.finish()?);
        let candidates = self.work.fields().candidates(&graph)?;
        self.search = self.work.search(graph, candidates);
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(search) = &mut self.search else {
            return Ok(None);
        };
        let graph = Arc::clone(search.graph());
        let mut matches = Matches::new(&self.work.fields().columns, &graph)?;
        while !matches.is_full() && search.advance()? {
            matches.add(search, &graph);
        }
        if matches.is_empty() {
            self.search = None;
            return Ok(None);
        }
        Ok(Some(matches.finish(&graph, &self.output)?))
    }

    fn memory(&self) -> usize {
        let search = self.search.as_ref();
        let searched = search.map_or(0, |search| search.bytes() + search.graph().bytes());
        self.rows.bytes() + searched
    }
}

/// Returns a row for each match of a pattern. The input are the rows of a graph.
#[derive(Debug, Clone)]
pub(crate) struct MatchGraph {
    pub(crate) pattern: Pattern,
    pub(crate) fields: SearchFields,
}

impl Transform for MatchGraph {
    fn name(&self) -> &'static str {
        "MatchGraph"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        self.start_search(input, output)
    }
}

impl SearchTransform for MatchGraph {
    type Search = Search;

    fn fields(&self) -> &SearchFields {
        &self.fields
    }

    fn search(&self, graph: Arc<GraphInMemory>, candidates: Candidates) -> Option<Search> {
        Some(Search::new(&self.pattern, graph, candidates))
    }
}
