//! The row work of `graph-shortest-paths`.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use super::breadth_first::BreadthFirst;
use crate::graph_pattern::matches::Matches;
use crate::graph_pattern::pattern::Pattern;
use crate::graph_pattern::rows::SearchFields;
use crate::graph_pattern::topology::GraphRows;
use crate::transform::{Reads, Transform, TransformState};

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

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            rows: self.fields.rows(input)?,
            work: self.clone(),
            output: Arc::clone(output),
            search: None,
        }))
    }
}

struct State {
    work: ShortestPaths,
    output: SchemaRef,
    rows: GraphRows,
    /// The search, once the graph is complete.
    search: Option<BreadthFirst>,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.rows.add(&batch)
    }

    fn finish(&mut self) -> Result<()> {
        let graph = Arc::new(self.rows.finish()?);
        let candidates = self.work.fields.candidates(&graph)?;
        if let Some(step) = self.work.pattern.steps.first() {
            let search = BreadthFirst::new(graph, candidates, *step, self.work.all);
            self.search = Some(search);
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(search) = &mut self.search else {
            return Ok(None);
        };
        let graph = Arc::clone(&search.graph);
        let mut matches = Matches::new(&self.work.fields.columns, &graph)?;
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
        let searched = search.map_or(0, |search| search.bytes() + search.graph.bytes());
        self.rows.bytes() + searched
    }
}
