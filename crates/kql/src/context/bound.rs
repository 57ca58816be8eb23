//! The results of binding expressions and operators.

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::RenderOperator;
use hindsight_kql_types::ScalarType;

use crate::error::BindResult;
use crate::graph::Graph;
use crate::query::BoundResult;
use crate::relation::{Relation, Scalar};

/// The result of binding the first part of a pipeline.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    /// The rows; [`Relation::unit`] if the result is a graph.
    pub(crate) relation: Relation,
    /// The graph, if the result is one (`docs/semantics.md §25`).
    pub(crate) graph: Option<Graph>,
    /// The name that `as` or a branch of `fork` assigns to the rows.
    pub(crate) label: Option<String>,
    /// The name by which the following operators can read these rows (`as`).
    pub(crate) defines: Option<String>,
    /// Names by which the following statements can read rows (`graph-to-table` with two tables).
    pub(crate) tables: Vec<(String, Relation)>,
    /// The visualization of `render`.
    pub(crate) render: Option<RenderOperator>,
    /// Results that precede these rows (`fork`, `facet`, `preview`).
    pub(crate) extra_results: Vec<BoundResult>,
}

impl From<Relation> for Bound {
    fn from(relation: Relation) -> Bound {
        Bound {
            relation,
            graph: None,
            label: None,
            defines: None,
            tables: Vec::new(),
            render: None,
            extra_results: Vec::new(),
        }
    }
}

impl From<Graph> for Bound {
    fn from(graph: Graph) -> Bound {
        Bound {
            graph: Some(graph),
            ..Relation::unit().into()
        }
    }
}

impl Bound {
    /// Replaces the rows; all other fields stay.
    pub(crate) fn map(
        self,
        operator: impl FnOnce(Relation) -> BindResult<Relation>,
    ) -> BindResult<Bound> {
        Ok(Bound {
            relation: operator(self.relation)?,
            ..self
        })
    }

    /// Replaces the graph, if there is one; all other fields stay.
    pub(crate) fn map_graph(
        self,
        operator: impl FnOnce(Graph) -> BindResult<Graph>,
    ) -> BindResult<Bound> {
        Ok(Bound {
            graph: self.graph.map(operator).transpose()?,
            ..self
        })
    }

    /// Replaces the graph, if there is one, by rows; all other fields stay.
    pub(crate) fn graph_to_rows(
        self,
        operator: impl FnOnce(Graph) -> BindResult<Relation>,
    ) -> BindResult<Bound> {
        let relation = match self.graph {
            Some(graph) => operator(graph)?,
            None => self.relation,
        };
        Ok(Bound {
            relation,
            graph: None,
            ..self
        })
    }

    /// Returns these rows after a pipeline that was bound to `before`. Fields that these rows do not set are taken from
    /// `before`.
    pub(crate) fn behind(self, before: Bound) -> Bound {
        let mut extra_results = before.extra_results;
        extra_results.extend(self.extra_results);
        Bound {
            relation: self.relation,
            graph: self.graph,
            label: self.label.or(before.label),
            defines: self.defines,
            tables: self.tables,
            render: self.render.or(before.render),
            extra_results,
        }
    }
}

/// The operator whose rules for numbering and name conflicts apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamingMode {
    /// `project`: the numbering of columns ignores the names of the input.
    Project,
    /// `extend`, `serialize`: a name of the input replaces that column; two targets never share a name.
    Extend,
    /// Keys and aggregates of `summarize`, `make-series`.
    Summarize,
    /// `distinct`.
    Distinct,
    /// `print`: unnamed columns are numbered by their position, from 0.
    Print,
}

/// One column of a list.
#[derive(Debug, Clone)]
pub(crate) struct BoundColumn {
    /// Its name, unique in the list.
    pub(crate) name: String,
    /// The expression that computes it.
    pub(crate) scalar: Scalar,
    /// The name is explicit (`Name = …`, or a plain column).
    pub(crate) explicit: bool,
}

/// One aggregate column.
#[derive(Debug, Clone)]
pub(crate) struct BoundAggregate {
    /// Its name, unique among keys and aggregates.
    pub(crate) name: String,
    /// A scalar expression over the fields of the input that contains DataFusion aggregate calls.
    pub(crate) expr: PlanExpr,
    /// Its type.
    pub(crate) kind: ScalarType,
}
