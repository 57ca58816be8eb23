//! `graph-to-table`: the nodes or the edges of a graph as rows (`docs/semantics.md §25`).

use hindsight_kql_syntax::ast::{
    Expr, GraphTable, GraphTableKind, GraphToTableOperator, OperatorParameter,
};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::graph::{Graph, is_edge, is_node};
use crate::plan::{Output, parameter};
use crate::relation::{Column, Relation};

impl TabularOperator for GraphToTableOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Graph,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: self.tables.len() > 1,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        match self.tables.as_slice() {
            [only] => {
                let label = only.name.as_ref().map(|name| name.text.clone());
                let bound = input.graph_to_rows(|graph| table(only, graph, binder, span))?;
                Ok(Bound { label, ..bound })
            }
            [first, second] if first.kind != second.kind => {
                both(first, second, input, binder, span)
            }
            _ => {
                let message = "one table of nodes and one of edges at most";
                Err(binder.error(Code::Semantics, message, span))
            }
        }
    }
}

/// The nodes and the edges as two results. The following statements can read them by their names, so the graph is
/// materialized.
fn both(
    first: &GraphTable,
    second: &GraphTable,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    let (Some(first_name), Some(second_name)) = (&first.name, &second.name) else {
        let message = "two tables need names: write 'nodes as N, edges as E'";
        return Err(binder.error(Code::Semantics, message, span));
    };
    let input = input.map_graph(|graph| {
        let rows = binder.materialize(graph.all_rows(), span)?;
        Ok(graph.with_plan(rows.plan))
    })?;
    let mut extra = Vec::new();
    let mut tables = input.tables.clone();
    if let Some(graph) = input.graph.clone() {
        let rows = table(first, graph, binder, span)?;
        tables.push((first_name.text.clone(), rows.clone()));
        extra.push(binder.result(Some(first_name.text.clone()), rows, span)?);
    }
    let mut bound = input.graph_to_rows(|graph| table(second, graph, binder, span))?;
    tables.push((second_name.text.clone(), bound.relation.clone()));
    bound.extra_results.extend(extra);
    Ok(Bound {
        label: Some(second_name.text.clone()),
        tables,
        ..bound
    })
}

fn table(
    node: &GraphTable,
    graph: Graph,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let (rows, predicate, ids) = match node.kind {
        GraphTableKind::Nodes => (
            graph.node_properties(),
            is_node(),
            vec![("with_node_id", graph.id_column())],
        ),
        GraphTableKind::Edges => (
            graph.edge_properties(),
            is_edge(),
            vec![
                ("with_source_id", graph.source.clone()),
                ("with_target_id", graph.target.clone()),
            ],
        ),
    };
    let mut columns = Vec::new();
    for (name, id) in ids {
        columns.extend(hash_column(&node.parameters, name, id, &rows, binder)?);
    }
    columns.extend(rows.columns.iter().map(Output::pass));
    for (index, column) in columns.iter().enumerate() {
        if columns.iter().take(index).any(|c| c.name == column.name) {
            let message = format!("the column '{}' exists already", column.name);
            return Err(binder.error(Code::DuplicateColumn, message, span));
        }
    }
    rows.filter(predicate, span)?.project(columns, span)
}

/// The column with the hash of an id, if the parameter `name` asks for one.
fn hash_column(
    parameters: &[OperatorParameter],
    name: &str,
    id: Column,
    rows: &Relation,
    binder: &mut dyn BindContext,
) -> BindResult<Option<Output>> {
    let Some(value) = parameter(parameters, &[name]) else {
        return Ok(None);
    };
    let column = binder.constant_word(value)?;
    let hash = Expr::call("hash", [Expr::name(&id.name)]);
    let with_id = Relation {
        columns: vec![id],
        ..rows.clone()
    };
    let hash = binder.bind_scalar(&hash, &with_id)?;
    Ok(Some(Output::visible(column, ScalarType::Long, hash.expr)))
}
