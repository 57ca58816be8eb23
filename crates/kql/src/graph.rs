//! Graphs: the value that `make-graph` makes and graph operators take (`docs/semantics.md §25`).

use datafusion::common::Column as PlanColumn;
use datafusion::logical_expr::{Expr, LogicalPlan};
use hindsight_kql_types::ScalarType;

use crate::relation::{Column, Relation};

/// The field with the number of a node, and in the row of an edge the number of its source: a long from 0.
pub(crate) const FROM: &str = "\0from";

/// The field with the number of an edge's target; null in the rows of nodes.
pub(crate) const TO: &str = "\0to";

/// The field with the id of a node, and in the row of an edge the id of its source.
pub(crate) const ID: &str = "\0id";

/// The name of the field of a node's property.
pub(crate) fn node_field(property: &str) -> String {
    format!("\0node.{property}")
}

/// The name of the field of an edge's property.
pub(crate) fn edge_field(property: &str) -> String {
    format!("\0edge.{property}")
}

/// A bound graph.
///
/// One plan outputs the rows of nodes and of edges, in no particular order. Nodes are numbered; the plan has the fields
/// [`FROM`], [`TO`] and [`ID`] beside those of the properties. Properties of nodes are null in the rows of edges, and the
/// reverse. The source and the target of every edge are nodes of the graph. Filters and projections over this plan filter
/// and extend the graph, and the optimiser reads only the properties that an operator reads.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    /// The rows of nodes and edges.
    pub(crate) plan: LogicalPlan,
    /// The properties of nodes.
    pub(crate) nodes: Vec<Column>,
    /// The properties of edges.
    pub(crate) edges: Vec<Column>,
    /// The type of the ids.
    pub(crate) id: ScalarType,
    /// The property of edges with the id of the source.
    pub(crate) source: Column,
    /// The property of edges with the id of the target.
    pub(crate) target: Column,
    /// The subtable key of `partitioned-by`: nodes and edges with different keys belong to different graphs.
    pub(crate) partition: Option<Column>,
}

impl Graph {
    /// A relation over all rows whose columns are the partition and the properties of nodes.
    pub(crate) fn node_properties(&self) -> Relation {
        self.relation(&self.nodes)
    }

    /// A relation over all rows whose columns are the partition and the properties of edges.
    pub(crate) fn edge_properties(&self) -> Relation {
        self.relation(&self.edges)
    }

    fn relation(&self, properties: &[Column]) -> Relation {
        let columns = self.partition.iter().chain(properties);
        Relation {
            plan: self.plan.clone(),
            columns: columns.cloned().collect(),
            serialized: false,
        }
    }

    /// A relation whose columns are all fields, under their own names.
    pub(crate) fn all_rows(&self) -> Relation {
        let own = [
            Column::scratch(FROM, ScalarType::Long),
            Column::scratch(TO, ScalarType::Long),
            self.id_column(),
        ];
        let properties = self.partition.iter().chain(&self.nodes).chain(&self.edges);
        let properties = properties.map(|c| Column::scratch(&c.field, c.kind));
        Relation {
            plan: self.plan.clone(),
            columns: own.into_iter().chain(properties).collect(),
            serialized: false,
        }
    }

    /// The same graph over another plan, which has the same fields.
    pub(crate) fn with_plan(self, plan: LogicalPlan) -> Graph {
        Graph { plan, ..self }
    }

    /// The ids of nodes as a column.
    pub(crate) fn id_column(&self) -> Column {
        Column::scratch(ID, self.id)
    }
}

/// Whether a row of a graph is that of an edge.
pub(crate) fn is_edge() -> Expr {
    Expr::Column(PlanColumn::new_unqualified(TO)).is_not_null()
}

/// Whether a row of a graph is that of a node.
pub(crate) fn is_node() -> Expr {
    Expr::Column(PlanColumn::new_unqualified(TO)).is_null()
}
