//! `graph-where-nodes`: the graph with only those nodes for which the predicate is true, and the edges between them
//! (`docs/semantics.md §25`).

mod rows;

use std::sync::Arc;

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::GraphWhereNodesOperator;

use self::rows::WithoutDanglingEdges;
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::graph::{Graph, is_edge};
use crate::plan::transform;
use crate::relation::Column;

impl TabularOperator for GraphWhereNodesOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Graph,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: true,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map_graph(|graph| bind(self, graph, binder, span))
    }
}

fn bind(
    node: &GraphWhereNodesOperator,
    graph: Graph,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Graph> {
    let nodes = graph.node_properties();
    let predicate = binder.bind_predicate(&node.predicate, &nodes)?;
    let rows = nodes.filter(is_edge().or(predicate), span)?;
    let fields: Vec<Column> = graph.all_rows().columns;
    let rows = transform(
        Arc::new(WithoutDanglingEdges),
        rows.plan,
        fields,
        false,
        span,
    )?;
    Ok(graph.with_plan(rows.plan))
}
