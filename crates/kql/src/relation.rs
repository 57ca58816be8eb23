//! What the binder builds: plans and expressions with KQL types beside them.

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, Projection};
use hindsight_kql_syntax::{Diagnostic, Span};
use hindsight_kql_types::{ScalarType, Value};

use crate::error::plan_error;

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The KQL name.
    pub name: String,
    /// Its type.
    pub kind: ScalarType,
    /// The unqualified field of the plan that holds it; equal to `name` unless that was taken.
    pub field: String,
}

/// A tabular expression: a plan and its columns in KQL order.
///
/// Invariant: every `field` is an unqualified field of `plan`, and string columns hold no nulls.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The plan. It may have fields that no column names; they are not part of the result.
    pub plan: LogicalPlan,
    /// The columns.
    pub columns: Vec<Column>,
    /// Row order is defined, so window functions are allowed (`semantics.md §22.1`).
    pub serialized: bool,
}

/// A bound scalar expression.
#[derive(Debug, Clone)]
pub struct Scalar {
    /// The expression over the input's fields.
    pub expr: Expr,
    /// Its KQL type.
    pub kind: ScalarType,
    /// Its value, where it is known while binding (literals and what folds from them).
    pub constant: Option<Value>,
}

impl Column {
    /// The expression that reads it.
    pub fn expr(&self) -> Expr {
        Expr::Column(datafusion::common::Column::new_unqualified(&self.field))
    }

    /// It as a scalar.
    pub fn scalar(&self) -> Scalar {
        Scalar {
            expr: self.expr(),
            kind: self.kind,
            constant: None,
        }
    }
}

impl Relation {
    /// One row without columns: the input of expressions that read no row.
    pub fn unit() -> Relation {
        Relation {
            plan: LogicalPlan::EmptyRelation(datafusion::logical_expr::EmptyRelation {
                produce_one_row: true,
                schema: Arc::new(DFSchema::empty()),
            }),
            columns: Vec::new(),
            serialized: false,
        }
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// A projection to exactly these columns, whose fields are their names. Order of rows is kept.
    pub(crate) fn project(
        self,
        columns: Vec<(String, ScalarType, Expr)>,
        span: Span,
    ) -> Result<Relation, Diagnostic> {
        let exprs = columns
            .iter()
            .map(|(name, _, expr)| named(expr.clone(), name))
            .collect::<Vec<_>>();
        let plan = Projection::try_new(exprs, Arc::new(self.plan))
            .map(LogicalPlan::Projection)
            .map_err(|e| plan_error(e, span))?;
        Ok(Relation {
            plan,
            columns: columns
                .into_iter()
                .map(|(name, kind, _)| Column {
                    field: name.clone(),
                    name,
                    kind,
                })
                .collect(),
            serialized: self.serialized,
        })
    }

    /// The rows where `predicate` is true.
    pub(crate) fn filter(self, predicate: Expr, span: Span) -> Result<Relation, Diagnostic> {
        let plan = Filter::try_new(predicate, Arc::new(self.plan))
            .map(LogicalPlan::Filter)
            .map_err(|e| plan_error(e, span))?;
        Ok(Relation { plan, ..self })
    }

    /// The same rows with exactly the columns as fields, in order and under their own names.
    pub(crate) fn finish(self, span: Span) -> Result<Relation, Diagnostic> {
        let fields = self.plan.schema();
        let done = fields.fields().len() == self.columns.len()
            && self
                .columns
                .iter()
                .zip(fields.iter())
                .all(|(c, (qualifier, f))| {
                    qualifier.is_none() && c.field == c.name && *f.name() == c.name
                });
        if done {
            return Ok(self);
        }
        let columns = self
            .columns
            .iter()
            .map(|c| (c.name.clone(), c.kind, c.expr()))
            .collect();
        self.project(columns, span)
    }
}

/// `expr` under `name`, without a needless alias.
pub(crate) fn named(expr: Expr, name: &str) -> Expr {
    match &expr {
        Expr::Column(c) if c.relation.is_none() && c.name == name => expr,
        _ => expr.alias(name),
    }
}

impl Relation {
    /// Whether this is [`Relation::unit`]: an operator that starts a pipeline has no rows to read.
    pub(crate) fn is_unit(&self) -> bool {
        self.columns.is_empty()
            && matches!(&self.plan, LogicalPlan::EmptyRelation(e) if e.produce_one_row)
    }
}

impl Scalar {
    /// A scalar that is not known before the query runs.
    pub fn new(expr: Expr, kind: ScalarType) -> Scalar {
        Scalar {
            expr,
            kind,
            constant: None,
        }
    }

    /// A known value.
    pub fn constant(value: Value) -> Scalar {
        Scalar {
            expr: crate::large::literal(crate::value::value_to_scalar(&value)),
            kind: value.kind(),
            constant: Some(value),
        }
    }
}
