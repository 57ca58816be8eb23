//! What the binder builds: plans and expressions with KQL types beside them.

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, Projection};
use hindsight_kql_syntax::{Diagnostic, Span};
use hindsight_kql_types::ScalarType;

use crate::error::plan_error;

pub use hindsight_kql_library::Scalar;

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The KQL name.
    pub name: String,
    /// Its type.
    pub kind: ScalarType,
    /// The unqualified field of the plan that holds it; equal to `name` unless that was taken.
    pub field: String,
    /// Who the column is for.
    pub role: ColumnRole,
}

/// Who a column is for. What the query cannot see has a name that no query can write, so that it takes no name away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRole {
    /// The query sees it.
    Visible,
    /// It tells the subtables of `mv-apply` and `partition` apart.
    SubtableKey,
    /// It travels with a subtable, in all rows of which it is the same, to be given back behind it.
    Carried,
    /// It is false in placeholder rows of subtables, and tells subtables apart as well.
    Placeholder,
    /// It is false in the placeholder rows that the aggregation at hand leaves out of its counts.
    UncountedPlaceholder,
    /// One operator reads it and nobody else.
    Scratch,
}

/// A column of a projection: what [`Relation::project`] makes a [`Column`] of.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) kind: ScalarType,
    pub(crate) expr: Expr,
    pub(crate) role: ColumnRole,
}

impl Output {
    /// A column that the query sees.
    pub(crate) fn visible(name: impl Into<String>, kind: ScalarType, expr: Expr) -> Output {
        Output {
            name: name.into(),
            kind,
            expr,
            role: ColumnRole::Visible,
        }
    }

    /// A column that one operator reads and nobody else.
    pub(crate) fn scratch(name: impl Into<String>, kind: ScalarType, expr: Expr) -> Output {
        Output {
            role: ColumnRole::Scratch,
            ..Output::visible(name, kind, expr)
        }
    }

    /// The column as it is.
    pub(crate) fn pass(column: &Column) -> Output {
        Output {
            name: column.name.clone(),
            kind: column.kind,
            expr: column.expr(),
            role: column.role,
        }
    }

    /// The column that comes of it.
    pub(crate) fn column(&self) -> Column {
        Column {
            role: self.role,
            ..Column::visible(&self.name, self.kind)
        }
    }
}

impl From<(String, ScalarType, Expr)> for Output {
    fn from((name, kind, expr): (String, ScalarType, Expr)) -> Output {
        Output::visible(name, kind, expr)
    }
}

impl From<(String, ScalarType)> for Column {
    fn from((name, kind): (String, ScalarType)) -> Column {
        Column::visible(name, kind)
    }
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

impl Column {
    /// A column that the query sees, in the field of its name.
    pub fn visible(name: impl Into<String>, kind: ScalarType) -> Column {
        let name = name.into();
        Column {
            field: name.clone(),
            name,
            kind,
            role: ColumnRole::Visible,
        }
    }

    /// A column that one operator reads and nobody else, in the field of its name.
    pub(crate) fn scratch(name: impl Into<String>, kind: ScalarType) -> Column {
        Column {
            role: ColumnRole::Scratch,
            ..Column::visible(name, kind)
        }
    }

    /// The column in the field of its name.
    pub(crate) fn under_its_name(&self) -> Column {
        Column {
            field: self.name.clone(),
            ..self.clone()
        }
    }

    /// Whether it serves the subtables of `mv-apply` and `partition`.
    pub(crate) fn is_of_subtables(&self) -> bool {
        match self.role {
            ColumnRole::Visible | ColumnRole::Scratch => false,
            ColumnRole::SubtableKey
            | ColumnRole::Carried
            | ColumnRole::Placeholder
            | ColumnRole::UncountedPlaceholder => true,
        }
    }

    /// Whether it tells subtables apart.
    pub(crate) fn tells_subtables_apart(&self) -> bool {
        self.is_of_subtables() && self.role != ColumnRole::Carried
    }

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
        columns: Vec<impl Into<Output>>,
        span: Span,
    ) -> Result<Relation, Diagnostic> {
        let outputs: Vec<Output> = columns.into_iter().map(Into::into).collect();
        let columns = outputs.iter().map(Output::column).collect();
        let exprs = outputs
            .into_iter()
            .map(|output| named(output.expr, &output.name))
            .collect();
        let plan = Projection::try_new(exprs, Arc::new(self.plan))
            .map(LogicalPlan::Projection)
            .map_err(|e| plan_error(e, span))?;
        Ok(Relation {
            plan,
            columns,
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
        let columns: Vec<Output> = self.columns.iter().map(Output::pass).collect();
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
