//! `scan`: sequences of rows that match steps (`docs/semantics.md §22.3`).

mod rows;

use std::convert::Infallible;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNode;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::Expr as PlanExpr;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use datafusion::physical_plan::PhysicalExpr;
use hindsight_kql_syntax::ast::{Expr, ExprKind, Name, ParameterType, ScanOperator, ScanStep};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use self::rows::{Output, Scan, Step};
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::convert::convert;
use crate::datafusion::large_literal as large;
use crate::error::{BindResult, plan_error};
use crate::operators::sort;
use crate::plan::transform;
use crate::plan::{self, free_name, hidden_name, parameter};
use crate::relation::{Column, Relation, Scalar};
use crate::transform::by_keys;

impl TabularOperator for ScanOperator {
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
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &ScanOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let input = ordered(node, input, binder, span)?;
    let keys = subtable_keys(node, &input, binder)?;
    if parameter(&node.parameters, &["kind"]).is_some() {
        return Err(binder.unsupported("the parameter 'kind'", span));
    }
    let input = input.finish(span)?;
    let row: Vec<Column> = input.columns.iter().map(Column::under_its_name).collect();
    let declared = declared(node, &row, binder)?;
    let scene = Scene::new(node, row, declared, span)?;
    let mut steps = Vec::with_capacity(node.steps.len());
    for step in &node.steps {
        steps.push(scene.step(step, binder)?);
    }
    let mut columns = scene.row.clone();
    columns.extend(scene.declared.iter().map(declared_column));
    let match_id = match parameter(&node.parameters, &["with_match_id"]) {
        None => None,
        Some(expr) => Some(binder.constant_word(expr)?),
    };
    if let Some(name) = &match_id {
        let name = free_name(name, |n| columns.iter().any(|c| c.name == n));
        columns.push(Column::visible(name, ScalarType::Long));
    }
    let defaults = scene
        .declared
        .iter()
        .map(|(_, value)| crate::value::value_to_scalar(value))
        .collect();
    let nulls = scene
        .row
        .iter()
        .map(|c| crate::value::null_scalar(c.kind))
        .collect();
    let work = Scan {
        schema: Arc::clone(scene.names.plan.schema().inner()),
        steps,
        nulls,
        defaults,
        match_id: match_id.is_some(),
    };
    transform(
        by_keys(Arc::new(work), keys),
        input.plan,
        columns,
        true,
        span,
    )
}

/// Sorts the input by `order by`; without it, the input must be serialized.
fn ordered(
    node: &ScanOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    if !node.order_by.is_empty() {
        let mut keys = Vec::new();
        for key in &node.order_by {
            keys.extend(sort::bind_key(key, &input, binder)?);
        }
        return Ok(sort::sorted(input, keys, None));
    }
    if input.serialized {
        Ok(input)
    } else {
        Err(binder.error(
            Code::Semantics,
            "the input must be serialized: sort it first",
            span,
        ))
    }
}

/// The columns that partition the matches: those of `partition by`, and the subtable keys of `mv-apply` and `partition`.
fn subtable_keys(
    node: &ScanOperator,
    input: &Relation,
    binder: &dyn BindContext,
) -> BindResult<Vec<String>> {
    let mut keys: Vec<String> = plan::subtable_keys(input)
        .into_iter()
        .map(|c| c.name)
        .collect();
    for expr in &node.partition_by {
        let column = plan::column_named(expr, input, binder)?;
        if column.kind == ScalarType::Dynamic {
            return Err(binder.error(Code::Semantics, "the key cannot be dynamic", expr.span));
        }
        keys.push(column.name.clone());
    }
    Ok(keys)
}

/// The declared columns and their defaults.
fn declared(
    node: &ScanOperator,
    row: &[Column],
    binder: &mut dyn BindContext,
) -> BindResult<Vec<(String, Value)>> {
    let mut declared: Vec<(String, Value)> = Vec::new();
    for column in &node.declare {
        let name = &column.name.text;
        let ParameterType::Scalar(kind) = column.kind else {
            return Err(binder.error(
                Code::Semantics,
                "a scalar type is expected",
                column.name.span(),
            ));
        };
        let taken = declared.iter().any(|d| d.0 == *name) || row.iter().any(|c| c.name == *name);
        if taken {
            let message = format!("the column '{name}' already exists");
            return Err(binder.error(Code::DuplicateColumn, message, column.name.span()));
        }
        let default = match &column.default {
            None => Value::null(kind).convert(kind),
            Some(expr) => binder.bind_constant(expr)?.convert(kind),
        };
        declared.push((name.clone(), default));
    }
    Ok(declared)
}

/// The columns that expressions of steps read: those of the row, the declared columns, and the columns of each step's state.
struct Scene {
    row: Vec<Column>,
    declared: Vec<(String, Value)>,
    steps: Vec<String>,
    names: Relation,
}

impl Scene {
    fn new(
        node: &ScanOperator,
        row: Vec<Column>,
        declared: Vec<(String, Value)>,
        span: Span,
    ) -> BindResult<Scene> {
        let steps: Vec<String> = node.steps.iter().map(|s| s.name.text.clone()).collect();
        let declared_columns = declared.iter().map(declared_column);
        let one: Vec<Column> = row.iter().cloned().chain(declared_columns).collect();
        let mut all = one.clone();
        for step in &steps {
            let of_step = |c: &Column| Column::scratch(state_name(step, &c.name), c.kind);
            all.extend(one.iter().map(of_step));
        }
        Ok(Scene {
            names: plan::no_rows(all, span)?,
            row,
            declared,
            steps,
        })
    }

    fn step(&self, step: &ScanStep, binder: &mut dyn BindContext) -> BindResult<Step> {
        let span = step.name.span();
        if step.optional {
            return Err(binder.unsupported("an optional step", span));
        }
        if self.steps.iter().filter(|s| **s == step.name.text).count() > 1 {
            let message = format!("duplicate step name '{}'", step.name.text);
            return Err(binder.error(Code::Semantics, message, span));
        }
        let output = match step.output.as_ref().map(|o| o.text.as_str()) {
            None | Some("all") => Output::All,
            Some("last") => Output::Last,
            Some("none") => Output::None,
            Some(other) => {
                return Err(binder.error(
                    Code::Semantics,
                    format!("unknown output '{other}'; the outputs are all, last and none"),
                    span,
                ));
            }
        };
        let condition = binder.bind_predicate(&self.reads(&step.condition), &self.names)?;
        let mut assignments = Vec::new();
        for (name, expr) in &step.assignments {
            let Some((index, kind)) = self.column(&name.text) else {
                let message = format!("the column '{}' is not declared", name.text);
                return Err(binder.error(Code::Semantics, message, name.span()));
            };
            let scalar = binder.bind_scalar(&self.reads(expr), &self.names)?;
            let scalar: Scalar = convert(scalar, kind);
            assignments.push((index, self.physical(scalar.expr, binder, expr.span)?));
        }
        Ok(Step {
            condition: self.physical(condition, binder, step.condition.span)?,
            assignments,
            output,
        })
    }

    /// The index and type of a column that a step may assign: a column of the row or a declared one.
    fn column(&self, name: &str) -> Option<(usize, ScalarType)> {
        let row = self.row.iter().map(|c| (c.name.as_str(), c.kind));
        let declared = self.declared.iter().map(|(n, v)| (n.as_str(), v.kind()));
        let mut all = row.chain(declared).enumerate();
        all.find(|(_, (column, _))| *column == name)
            .map(|(index, (_, kind))| (index, kind))
    }

    fn physical(
        &self,
        expr: PlanExpr,
        binder: &dyn BindContext,
        span: Span,
    ) -> BindResult<Arc<dyn PhysicalExpr>> {
        let waits = expr.exists(|e| Ok(large::waits(e)));
        if waits.map_err(|e| plan_error(e, span))? {
            return Err(binder.unsupported("a sub-query inside a step", span));
        }
        let schema = self.names.plan.schema();
        let context = datafusion::optimizer::simplify_expressions::SimplifyContext::builder()
            .with_schema(Arc::clone(schema))
            .build();
        let expr = datafusion::optimizer::simplify_expressions::ExprSimplifier::new(context)
            .coerce(expr, schema)
            .and_then(large::in_place)
            .map_err(|e| plan_error(e, span))?;
        create_physical_expr(
            &expr,
            schema,
            &ExecutionProps::new(),
            &PhysicalPlanningContext::default(),
        )
        .map_err(|e| plan_error(e, span))
    }

    /// The expression with `step.column` replaced by a single name.
    fn reads(&self, expr: &Expr) -> Expr {
        if let ExprKind::Member { value, member } = &expr.kind
            && let Some(step) = value.as_name()
            && self.steps.iter().any(|s| s == step)
        {
            let name = Name::new(state_name(step, &member.text), expr.span);
            return Expr::new(ExprKind::Name(name), expr.span);
        }
        let mapped: Result<Expr, Infallible> =
            expr.try_map_operands(&mut |operand| Ok(self.reads(operand)));
        mapped.unwrap_or_else(|never| match never {})
    }
}

fn declared_column((name, value): &(String, Value)) -> Column {
    Column::visible(name, value.kind())
}

fn state_name(step: &str, column: &str) -> String {
    hidden_name(&format!("{step}.{column}"))
}
