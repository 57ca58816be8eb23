//! Sub-queries that run once, before the query: `toscalar`, `materialize`, lists of `in (T)` (`semantics.md §14.5, §14.6`).

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Column as PlanColumn, DataFusionError, Result};
use datafusion::datasource::{MemTable, TableType, provider_as_source};
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::ExecutionPlan;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Expr;
use hindsight_kql_types::ScalarType;
use parking_lot::RwLock;

use super::constant::planned;
use super::{BindResult, Binder};
use crate::held::HeldRows;
use crate::plan::groups;
use crate::relation::{Column, Relation, Scalar};
use crate::subtables;

/// A sub-query that runs before the results. Its plan may hold the placeholders of earlier steps.
#[derive(Debug)]
pub struct Step {
    /// The placeholder that its value replaces: `$1`, `$2`, … (`StepKind::Scalar`, `StepKind::List`).
    pub id: String,
    /// What is run.
    pub plan: LogicalPlan,
    /// What becomes of its rows.
    pub kind: StepKind,
}

/// What becomes of the rows of a [`Step`].
#[derive(Debug, Clone)]
pub enum StepKind {
    /// The first column of the first row; null (`""`) without rows.
    Scalar(ScalarType),
    /// The first column of all rows as one dynamic array.
    List(ScalarType),
    /// All rows, which fill the table that the other plans read.
    Table(Arc<MaterializedTable>),
}

/// The rows of a `materialize`, empty until its step has run.
#[derive(Debug)]
pub struct MaterializedTable {
    schema: SchemaRef,
    rows: RwLock<Option<Arc<HeldRows>>>,
}

impl MaterializedTable {
    /// A table for rows with these columns.
    pub(crate) fn empty(columns: &[Column]) -> MaterializedTable {
        let fields = columns
            .iter()
            .map(|c| Field::new(&c.name, c.kind.arrow(), true))
            .collect::<Vec<_>>();
        MaterializedTable {
            schema: Arc::new(Schema::new(fields)),
            rows: RwLock::new(None),
        }
    }

    /// The schema that the rows must have.
    pub fn arrow_schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Fills the table; the rows' memory stays reserved as long as the table is there.
    pub fn fill(&self, rows: Arc<HeldRows>) {
        *self.rows.write() = Some(rows);
    }
}

#[async_trait]
impl TableProvider for MaterializedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[PlanExpr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rows = self.rows.read().clone();
        let rows = rows.ok_or_else(|| {
            DataFusionError::Internal(
                "a materialised table is read before its step has run".to_owned(),
            )
        })?;
        MemTable::try_new(Arc::clone(&self.schema), vec![rows.batches().to_vec()])?
            .scan(state, projection, filters, limit)
            .await
    }
}

impl Binder<'_> {
    /// `toscalar(T)` and `toscalar(expr)`: a value that is computed once.
    pub(crate) fn bind_toscalar(&mut self, body: &Expr, span: Span) -> BindResult<Scalar> {
        let key = (span.start, span.end);
        let own_place = self.call_depth == 0 && span.end > span.start;
        if let (true, Some(scalar)) = (own_place, self.pinned.get(&key)) {
            return Ok(scalar.clone());
        }
        let relation = match self.is_tabular(body, None) {
            true => self.bind_subquery(body)?,
            false => {
                let scalar = self.bind_scalar(body, &Relation::unit())?;
                if scalar.constant.is_some() {
                    return Ok(scalar);
                }
                let column = ("value".to_owned(), scalar.kind, scalar.expr);
                Relation::unit().project(vec![column], span)?
            }
        };
        if !groups(&relation).is_empty() {
            return subtables::value::note(relation, self, span);
        }
        let relation = first_column(relation, span)?;
        let kind = relation
            .columns
            .first()
            .map_or(ScalarType::Dynamic, |c| c.kind);
        let plan = planned(
            LogicalPlanBuilder::from(relation.plan).limit(0, Some(1)),
            span,
        )?;
        let plan = planned(plan.build(), span)?;
        let scalar = self.add_step(plan, StepKind::Scalar(kind), kind);
        if own_place {
            self.pinned.insert(key, scalar.clone());
        }
        Ok(scalar)
    }

    /// The first column of `in (T)` as one array.
    pub(crate) fn bind_list_subquery(&mut self, body: &Expr) -> BindResult<(Scalar, ScalarType)> {
        let relation = self.bind_subquery(body)?;
        if !groups(&relation).is_empty() {
            return Err(self.unsupported("a list of a subtable's values", body.span));
        }
        let relation = first_column(relation, body.span)?;
        let kind = relation
            .columns
            .first()
            .map_or(ScalarType::Dynamic, |c| c.kind);
        let array = self.add_step(relation.plan, StepKind::List(kind), ScalarType::Dynamic);
        Ok((array, kind))
    }

    /// `materialize(T)`: its rows are computed once.
    pub(crate) fn bind_materialize(&mut self, body: &Expr, span: Span) -> BindResult<Relation> {
        let relation = self.bind_subquery(body)?;
        self.materialize(relation, span)
    }

    /// The same rows, computed once and read from memory.
    pub(crate) fn materialize(&mut self, relation: Relation, span: Span) -> BindResult<Relation> {
        let relation = relation.finish(span)?;
        let table = Arc::new(MaterializedTable::empty(&relation.columns));
        let id = self.next_step_id();
        let name = format!("materialized{id}");
        self.steps.push(Step {
            id,
            plan: relation.plan,
            kind: StepKind::Table(Arc::clone(&table)),
        });
        read_materialized(table, &name, &relation.columns, relation.serialized, span)
    }

    /// A tabular body that reads no row of its surroundings.
    fn bind_subquery(&mut self, body: &Expr) -> BindResult<Relation> {
        let label = self.label.take();
        let aggregates = self.aggregates.take();
        // Window calls of the operator around it wait for that operator's rows.
        let windows = std::mem::take(&mut self.windows);
        let values = std::mem::take(&mut self.subtable_values);
        self.level += 1;
        let result = self.bind_tabular(body);
        self.level -= 1;
        self.windows = windows;
        self.subtable_values = values;
        self.aggregates = aggregates;
        self.label = label;
        result
    }

    fn add_step(&mut self, plan: LogicalPlan, step: StepKind, kind: ScalarType) -> Scalar {
        let id = self.next_step_id();
        self.steps.push(Step {
            id: id.clone(),
            plan,
            kind: step,
        });
        let field = Arc::new(Field::new(&id, kind.arrow(), true));
        Scalar::new(
            PlanExpr::Placeholder(Placeholder::new_with_field(id, Some(field))),
            kind,
        )
    }

    pub(super) fn next_step_id(&mut self) -> String {
        self.step_ids += 1;
        format!("${}", self.step_ids)
    }
}

/// The rows of a materialised table, which hold exactly `columns`.
pub(crate) fn read_materialized(
    table: Arc<MaterializedTable>,
    name: &str,
    columns: &[Column],
    serialized: bool,
    span: Span,
) -> BindResult<Relation> {
    let plan = LogicalPlanBuilder::scan(name, provider_as_source(table), None)
        .and_then(LogicalPlanBuilder::build);
    let scan = Relation {
        plan: planned(plan, span)?,
        columns: Vec::new(),
        serialized,
    };
    let outputs = columns
        .iter()
        .map(|c| {
            let column = PlanExpr::Column(PlanColumn::new(Some(name), &c.name));
            (c.name.clone(), c.kind, column.alias(&c.name))
        })
        .collect();
    scan.project(outputs, span)
}

fn first_column(relation: Relation, span: Span) -> BindResult<Relation> {
    let Some(first) = relation.columns.first().cloned() else {
        return Err(hindsight_kql_syntax::Diagnostic::new(
            "SEM0001",
            "the sub-query has no column",
            span,
        ));
    };
    relation.project(vec![(first.name.clone(), first.kind, first.expr())], span)
}
