//! `make-graph`: a graph whose edges are the rows (`docs/semantics.md §25`).
//!
//! The plan is the union of the edges and of the node tables, over which a transform numbers the nodes.

mod legs;
mod nodes;
mod rows;

use std::sync::Arc;

use datafusion::logical_expr::{LogicalPlan, Union};
use hindsight_kql_syntax::ast::{GraphPartition, MakeGraphOperator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use self::legs::{edge_rows, id_column};
use self::nodes::{NodeTables, node_tables};
use self::rows::{EDGE, NumberNodes, TARGET};
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::{BindResult, plan_error};
use crate::graph::{FROM, Graph, TO, edge_field};
use crate::plan::{self, Output, hidden_name, transform, visible};
use crate::relation::{Column, ColumnRole, Relation};
use crate::subtables::pipeline::run_in_reduced_subtables;

impl TabularOperator for MakeGraphOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        plan::refuse_groups(&input.relation, binder, span)?;
        if !self.directed {
            let message = "the edges are directed: write '-->'";
            return Err(binder.error(Code::UndirectedGraph, message, span));
        }
        let graph = graph(self, &input.relation, binder, span)?;
        let bound = Bound {
            relation: Relation::unit(),
            graph: Some(graph),
            ..input
        };
        match &self.partition {
            Some(partition) => of_each_partition(partition, bound, binder, span),
            None => Ok(bound),
        }
    }
}

fn graph(
    node: &MakeGraphOperator,
    edges: &Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Graph> {
    let source = id_column(&node.source, edges, binder)?;
    let target = id_column(&node.target, edges, binder)?;
    if source.kind != target.kind {
        let message = format!(
            "the ids of source and target have different types: {} and {}",
            source.kind, target.kind
        );
        return Err(binder.error(Code::EndpointTypes, message, node.target.span()));
    }
    let by = match &node.partition {
        Some(partition) => Some(partition_column(partition, edges, binder)?),
        None => None,
    };
    let tables = node_tables(node, source.kind, by.as_ref(), binder)?;
    let partition = by.as_ref().map(|column| Column {
        role: ColumnRole::SubtableKey,
        ..Column::visible(hidden_name("graph.partition"), column.kind)
    });
    let edge_columns: Vec<Column> = visible(edges)
        .map(|c| Column {
            field: edge_field(&c.name),
            ..c.clone()
        })
        .collect();
    let of_edge = |column: Column| Column {
        field: edge_field(&column.name),
        ..column
    };
    let graph = Graph {
        plan: edges.plan.clone(),
        nodes: tables.properties.clone(),
        source: of_edge(source.clone()),
        target: of_edge(target.clone()),
        edges: edge_columns,
        id: source.kind,
        partition,
    };
    let edge_rows = edge_rows(&graph, edges, [&source, &target], by.as_ref());
    let mut legs = vec![edges.clone().project(edge_rows, span)?];
    for table in &tables.tables {
        let rows = table.rows(&graph);
        legs.push(table.relation.clone().project(rows, span)?);
    }
    numbered(graph, legs, &tables, span)
}

fn partition_column(
    partition: &GraphPartition,
    edges: &Relation,
    binder: &dyn BindContext,
) -> BindResult<Column> {
    let column = plan::column_named(&partition.by, edges, binder)?;
    if column.kind == ScalarType::Dynamic {
        let message = "the key of a partition cannot be dynamic";
        return Err(binder.error(Code::Semantics, message, partition.by.span));
    }
    Ok(column.clone())
}

/// The graph over the union of the edges and the node tables.
fn numbered(
    graph: Graph,
    legs: Vec<Relation>,
    tables: &NodeTables,
    span: Span,
) -> BindResult<Graph> {
    let fields = legs.first().map_or(Vec::new(), |leg| leg.columns.clone());
    let mut plans: Vec<Arc<LogicalPlan>> = legs.into_iter().map(|leg| Arc::new(leg.plan)).collect();
    let union = match plans.len() {
        1 => plans.pop().map(Arc::unwrap_or_clone),
        _ => {
            let union = Union::try_new(plans).map_err(|e| plan_error(e, span))?;
            Some(LogicalPlan::Union(union))
        }
    };
    let mut columns = vec![
        Column::scratch(FROM, ScalarType::Long),
        Column::scratch(TO, ScalarType::Long),
    ];
    columns.extend(
        fields
            .into_iter()
            .filter(|c| c.name != EDGE && c.name != TARGET),
    );
    let work = NumberNodes {
        partition: graph.partition.as_ref().map(|c| c.field.clone()),
        id_properties: tables.id_properties.clone(),
        partition_properties: tables.partition_properties.clone(),
    };
    let union = union.unwrap_or_else(|| graph.plan.clone());
    let rows = transform(Arc::new(work), union, columns, false, span)?;
    Ok(graph.with_plan(rows.plan))
}

/// `partitioned-by`: the pipeline runs over the graph of each partition.
fn of_each_partition(
    node: &GraphPartition,
    graph: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    let Some((first, rest)) = node.operators.split_first() else {
        return Err(binder.error(Code::Semantics, "the pipeline has no operator", span));
    };
    let rows = binder.bind_operator(first, graph)?;
    if rows.graph.is_some() {
        let message = format!(
            "the pipeline of 'partitioned-by' begins with an operator that makes rows, and '{}' makes a graph",
            first.kind.keyword()
        );
        return Err(binder.error(Code::GraphMismatch, message, first.span));
    }
    let rows = run_in_reduced_subtables(rest, rows, binder, span)?;
    rows.map(|rows| {
        let columns: Vec<Output> = visible(&rows).map(Output::pass).collect();
        Ok(Relation {
            serialized: false,
            ..rows.project(columns, span)?
        })
    })
}
