//! The node tables of `make-graph`, and the properties of nodes that they define.

use hindsight_kql_syntax::Code;
use hindsight_kql_syntax::ast::{GraphNodes, MakeGraphOperator, NodeTable};
use hindsight_kql_types::ScalarType;

use super::legs::{id_column, partition_output, structure};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::graph::{Graph, node_field};
use crate::plan::{Output, missing, visible};
use crate::relation::{Column, Relation};

/// The node tables and the properties of nodes.
#[derive(Default)]
pub(super) struct NodeTables {
    pub(super) tables: Vec<Table>,
    /// The properties, in the order of the tables.
    pub(super) properties: Vec<Column>,
    /// The fields of the properties that are ids. A node that no table has gets its id there.
    pub(super) id_properties: Vec<String>,
    /// The fields of the properties that are the key of the partition.
    pub(super) partition_properties: Vec<String>,
}

/// A node table.
pub(super) struct Table {
    pub(super) relation: Relation,
    id: Column,
    /// The key of the partition.
    by: Option<Column>,
}

/// Binds the node tables. `kind` is the type of the ids of the edges, and `by` the column of `partitioned-by`.
pub(super) fn node_tables(
    node: &MakeGraphOperator,
    kind: ScalarType,
    by: Option<&Column>,
    binder: &mut dyn BindContext,
) -> BindResult<NodeTables> {
    let mut tables = NodeTables::default();
    match &node.nodes {
        None => {}
        Some(GraphNodes::Id(name)) => {
            tables.properties.push(property(&name.text, kind));
            tables.id_properties.push(node_field(&name.text));
        }
        Some(GraphNodes::Tables(written)) => {
            for table in written {
                let table = bind(table, kind, by, binder)?;
                tables.id_properties.push(node_field(&table.id.name));
                let of_partition = table.by.iter().map(|c| node_field(&c.name));
                tables.partition_properties.extend(of_partition);
                tables.tables.push(table);
            }
            tables.properties = merged(&tables.tables);
        }
    }
    Ok(tables)
}

fn property(name: &str, kind: ScalarType) -> Column {
    Column {
        field: node_field(name),
        ..Column::visible(name, kind)
    }
}

fn bind(
    node: &NodeTable,
    kind: ScalarType,
    by: Option<&Column>,
    binder: &mut dyn BindContext,
) -> BindResult<Table> {
    let relation = binder.bind_tabular(&node.table)?.relation;
    let id = id_column(&node.id, &relation, binder)?;
    if id.kind != kind {
        let message = format!(
            "the ids of nodes and edges have different types: {} and {kind}",
            id.kind
        );
        return Err(binder.error(Code::NodeIdType, message, node.id.span()));
    }
    let by = match by {
        None => None,
        Some(by) => match visible(&relation).find(|c| c.name == by.name && c.kind == by.kind) {
            Some(column) => Some(column.clone()),
            None => {
                let message = format!(
                    "the node table has no column '{}' of type {}, by which the graph is partitioned",
                    by.name, by.kind
                );
                return Err(binder.error(Code::UnresolvedName, message, node.table.span));
            }
        },
    };
    Ok(Table { relation, id, by })
}

/// The properties of all tables. A property that has different types in different tables is dropped.
fn merged(tables: &[Table]) -> Vec<Column> {
    let all = || tables.iter().flat_map(|table| visible(&table.relation));
    let mut properties: Vec<Column> = Vec::new();
    for column in all() {
        let known = properties.iter().any(|p| p.name == column.name);
        let one_type = all().all(|c| c.name != column.name || c.kind == column.kind);
        if !known && one_type {
            properties.push(property(&column.name, column.kind));
        }
    }
    properties
}

impl Table {
    /// The columns of the table's leg of the union.
    pub(super) fn rows(&self, graph: &Graph) -> Vec<Output> {
        let mut outputs = Vec::from(structure(false, &self.id, None));
        outputs.extend(partition_output(graph, self.by.as_ref()));
        outputs.extend(graph.nodes.iter().map(|property| {
            let own = visible(&self.relation).find(|c| c.name == property.name);
            let value = own.map_or(missing(property.kind), Column::expr);
            Output::scratch(&property.field, property.kind, value)
        }));
        let of_edges = |c: &Column| Output::scratch(&c.field, c.kind, missing(c.kind));
        outputs.extend(graph.edges.iter().map(of_edges));
        outputs
    }
}
