//! The row work of `graph-shortest-paths`.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use super::breadth_first::BreadthFirst;
use crate::graph_pattern::pattern::Pattern;
use crate::graph_pattern::rows::{SearchFields, SearchTransform};
use crate::graph_pattern::search::Candidates;
use crate::graph_pattern::topology::GraphInMemory;
use crate::transform::{READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState};

/// Returns the shortest paths of a pattern of one step, between each two nodes. The input are the rows of a graph.
#[derive(Debug, Clone)]
pub(super) struct ShortestPaths {
    pub(super) pattern: Pattern,
    pub(super) fields: SearchFields,
    /// All of them, and not any.
    pub(super) all: bool,
}

impl Transform for ShortestPaths {
    fn name(&self) -> &'static str {
        "ShortestPaths"
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

impl SearchTransform for ShortestPaths {
    type Search = BreadthFirst;

    fn fields(&self) -> &SearchFields {
        &self.fields
    }

    fn search(&self, graph: Arc<GraphInMemory>, candidates: Candidates) -> Option<BreadthFirst> {
        let step = self.pattern.steps.first()?;
        Some(BreadthFirst::new(graph, candidates, *step, self.all))
    }
}
