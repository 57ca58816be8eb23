//! The legs of the union that `make-graph` reads: the edges and the node tables, with the same columns.

use datafusion::logical_expr::lit;
use hindsight_kql_syntax::Code;
use hindsight_kql_syntax::ast::Name;
use hindsight_kql_types::ScalarType;

use super::rows::{EDGE, TARGET};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::graph::{Graph, ID, edge_field};
use crate::plan::{Output, missing, visible};
use crate::real_key::as_key;
use crate::relation::{Column, Relation};

/// The column of an id, which is not dynamic.
pub(super) fn id_column(
    name: &Name,
    rows: &Relation,
    binder: &dyn BindContext,
) -> BindResult<Column> {
    let Some(column) = visible(rows).find(|c| c.name == name.text) else {
        let message = format!(
            "Failed to resolve column or scalar expression named '{}'",
            name.text
        );
        return Err(binder.error(Code::UnresolvedName, message, name.span()));
    };
    if column.kind == ScalarType::Dynamic {
        let message = format!("the id '{}' is dynamic: cast it to another type", name.text);
        return Err(binder.error(Code::DynamicNodeId, message, name.span()));
    }
    Ok(column.clone())
}

/// The fields that the transform reads: the flag of edges, the ids, and the partition.
pub(super) fn structure(is_edge: bool, source: &Column, target: Option<&Column>) -> [Output; 3] {
    let id = as_key(source.expr(), source.kind);
    let target = target.map_or(missing(source.kind), |c| as_key(c.expr(), c.kind));
    [
        Output::scratch(EDGE, ScalarType::Bool, lit(is_edge)),
        Output::scratch(ID, source.kind, id),
        Output::scratch(TARGET, source.kind, target),
    ]
}

/// The key of the partition as a column of a leg.
pub(super) fn partition_output(graph: &Graph, by: Option<&Column>) -> Option<Output> {
    let (own, by) = (graph.partition.as_ref()?, by?);
    Some(Output {
        expr: as_key(by.expr(), by.kind),
        ..Output::pass(own)
    })
}

/// The columns of the leg of the edges.
pub(super) fn edge_rows(
    graph: &Graph,
    edges: &Relation,
    [source, target]: [&Column; 2],
    by: Option<&Column>,
) -> Vec<Output> {
    let mut outputs = Vec::from(structure(true, source, Some(target)));
    outputs.extend(partition_output(graph, by));
    let of_nodes = |c: &Column| Output::scratch(&c.field, c.kind, missing(c.kind));
    outputs.extend(graph.nodes.iter().map(of_nodes));
    let own = visible(edges).map(|c| Output::scratch(edge_field(&c.name), c.kind, c.expr()));
    outputs.extend(own);
    outputs
}
