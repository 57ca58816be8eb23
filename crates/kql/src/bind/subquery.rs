//! Sub-queries that run once before the results: `toscalar`, `materialize`, lists of `in (T)` (`docs/semantics.md §14.5,
//! §14.6`).

use std::sync::Arc;

use arrow::datatypes::Field;
use datafusion::common::Column as PlanColumn;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, LogicalPlanBuilder};
use hindsight_kql_syntax::ast::Expr;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use crate::context::{Bound, Frame};
use crate::error::{BindResult, planned};
use crate::plan::groups;
use crate::relation::{Column, Output, Relation, Scalar};
use crate::steps::{MaterializedTable, Step, StepKind};
use crate::subtables::value;

impl Binder<'_> {
    /// `toscalar(T)` and `toscalar(expr)`: a value that is evaluated once.
    pub(crate) fn bind_toscalar(&mut self, body: &Expr, span: Span) -> BindResult<Scalar> {
        let key = (span.start, span.end);
        let own_place = self.frame.call_depth == 0 && span.end > span.start;
        if let (true, Some(scalar)) = (own_place, self.output.pinned.get(&key)) {
            return Ok(scalar.clone());
        }
        let relation = if self.is_tabular(body, None) {
            self.bind_subquery(body)?
        } else {
            let scalar = self.bind_scalar(body, &Relation::unit())?;
            if scalar.constant.is_some() {
                return Ok(scalar);
            }
            let column = ("value".to_owned(), scalar.kind, scalar.expr);
            Relation::unit().project(vec![column], span)?
        };
        if !groups(&relation).is_empty() {
            return value::note(relation, self, span);
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
            self.output.pinned.insert(key, scalar.clone());
        }
        Ok(scalar)
    }

    /// The first column of the `T` of `in (T)` as one array.
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

    /// `materialize(T)`: the rows, or the graph, are evaluated once.
    pub(crate) fn bind_materialize(&mut self, body: &Expr, span: Span) -> BindResult<Bound> {
        let bound = self.bind_in_own_scope(body)?;
        match bound.graph {
            Some(graph) => {
                let rows = self.materialize(graph.all_rows(), span)?;
                Ok(graph.with_plan(rows.plan).into())
            }
            None => Ok(self.materialize(bound.relation, span)?.into()),
        }
    }

    /// Evaluates the rows of `input` once and reads them from memory.
    pub(crate) fn materialize(&mut self, relation: Relation, span: Span) -> BindResult<Relation> {
        let relation = relation.finish(span)?;
        let table = Arc::new(MaterializedTable::empty(&relation.columns));
        let id = self.next_step_id();
        let name = format!("materialized{id}");
        self.output.steps.push(Step {
            id,
            plan: relation.plan,
            kind: StepKind::Table(Arc::clone(&table)),
        });
        read_materialized(table, &name, &relation.columns, relation.serialized, span)
    }

    /// Binds a tabular body that cannot read the row of its enclosing pipeline.
    fn bind_subquery(&mut self, body: &Expr) -> BindResult<Relation> {
        let bound = self.bind_in_own_scope(body)?;
        self.refuse_graph(&bound, body.span)?;
        Ok(bound.relation)
    }

    /// Binds a tabular body or a graph that cannot read the row of its enclosing pipeline.
    fn bind_in_own_scope(&mut self, body: &Expr) -> BindResult<Bound> {
        let frame = Frame {
            level: self.frame.level + 1,
            ..self.frame.clone()
        };
        self.within(frame, |binder| {
            binder.with_own_expressions(|binder| binder.bind_inner(body))
        })
    }

    fn add_step(&mut self, plan: LogicalPlan, step: StepKind, kind: ScalarType) -> Scalar {
        let id = self.next_step_id();
        self.output.steps.push(Step {
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
        self.output.step_ids += 1;
        format!("${}", self.output.step_ids)
    }
}

/// Reads a materialized table, which has exactly `columns`.
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
            Output {
                expr: column.alias(&c.name),
                ..Output::pass(c)
            }
        })
        .collect();
    scan.project(outputs, span)
}

fn first_column(relation: Relation, span: Span) -> BindResult<Relation> {
    let Some(first) = relation.columns.first().cloned() else {
        return Err(hindsight_kql_syntax::Diagnostic::new(
            Code::Semantics,
            "the sub-query has no column",
            span,
        ));
    };
    relation.project(vec![(first.name.clone(), first.kind, first.expr())], span)
}
