//! The output of the binder: plans and expressions with their KQL types.

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
    /// The unqualified field of the plan that holds it; equal to `name` unless that name is in use.
    pub field: String,
    /// The role of the column.
    pub role: ColumnRole,
}

/// The role of a column. A column that the query cannot see has a name that no query can write, so it conflicts with no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnRole {
    /// The query sees it.
    Visible,
    /// It is a subtable key of `mv-apply` and `partition`.
    SubtableKey,
    /// It is carried with a subtable, in all of whose rows it is the same, and is restored after the subtable.
    Carried,
    /// It is false in placeholder rows of subtables, and is a subtable key as well.
    Placeholder,
    /// It is false in the placeholder rows that the current aggregation does not count.
    UncountedPlaceholder,
    /// Only one operator reads it.
    Scratch,
}

/// A column of a projection. [`Relation::project`] makes a [`Column`] of it.
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

    /// A column that only one operator reads.
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

    /// The column of the projection's output.
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
/// Invariant: every `field` is an unqualified field of `plan`, and string columns have no nulls.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The plan. Fields that no column names are not part of the result.
    pub plan: LogicalPlan,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows have a defined order, so window functions are allowed (`docs/semantics.md §22.1`).
    pub serialized: bool,
}

impl Column {
    /// A column that the query sees, stored in the field of the same name.
    pub fn visible(name: impl Into<String>, kind: ScalarType) -> Column {
        let name = name.into();
        Column {
            field: name.clone(),
            name,
            kind,
            role: ColumnRole::Visible,
        }
    }

    /// A column that only one operator reads, stored in the field of the same name.
    pub(crate) fn scratch(name: impl Into<String>, kind: ScalarType) -> Column {
        Column {
            role: ColumnRole::Scratch,
            ..Column::visible(name, kind)
        }
    }

    /// The column, stored in the field of the same name.
    pub(crate) fn under_its_name(&self) -> Column {
        Column {
            field: self.name.clone(),
            ..self.clone()
        }
    }

    /// Whether it belongs to the subtables of `mv-apply` and `partition`.
    pub(crate) fn is_of_subtables(&self) -> bool {
        match self.role {
            ColumnRole::Visible | ColumnRole::Scratch => false,
            ColumnRole::SubtableKey
            | ColumnRole::Carried
            | ColumnRole::Placeholder
            | ColumnRole::UncountedPlaceholder => true,
        }
    }

    /// Whether it is a subtable key.
    pub(crate) fn tells_subtables_apart(&self) -> bool {
        self.is_of_subtables() && self.role != ColumnRole::Carried
    }

    /// The expression that reads it.
    pub fn expr(&self) -> Expr {
        Expr::Column(datafusion::common::Column::new_unqualified(&self.field))
    }

    /// The column as a scalar.
    pub fn scalar(&self) -> Scalar {
        Scalar {
            expr: self.expr(),
            kind: self.kind,
            constant: None,
        }
    }
}

impl Relation {
    /// One row without columns: the input of expressions that read no column.
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

    /// A projection to exactly these columns, whose fields have their names. The row order is preserved.
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

    /// The rows for which `predicate` is true.
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

/// `expr` with the name `name`; an alias is added only if it is needed.
pub(crate) fn named(expr: Expr, name: &str) -> Expr {
    match &expr {
        Expr::Column(c) if c.relation.is_none() && c.name == name => expr,
        _ => expr.alias(name),
    }
}

impl Relation {
    /// Whether this is [`Relation::unit`], the input of an operator that starts a pipeline.
    pub(crate) fn is_unit(&self) -> bool {
        self.columns.is_empty()
            && matches!(&self.plan, LogicalPlan::EmptyRelation(e) if e.produce_one_row)
    }
}
