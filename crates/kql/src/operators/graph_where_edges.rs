//! `graph-where-edges`: the graph with only those edges for which the predicate is true (`docs/semantics.md §25`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::GraphWhereEdgesOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::graph::is_node;

impl TabularOperator for GraphWhereEdgesOperator {
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
        input.map_graph(|graph| {
            let edges = graph.edge_properties();
            let predicate = binder.bind_predicate(&self.predicate, &edges)?;
            let rows = edges.filter(is_node().or(predicate), span)?;
            Ok(graph.with_plan(rows.plan))
        })
    }
}
