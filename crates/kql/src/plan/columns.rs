//! What several operators need: hidden group columns, names in lists, fixed rows.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_empty_array};
use arrow::datatypes::{Field, Schema};
use datafusion::common::{Column as PlanColumn, DFSchema, ScalarValue};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{
    Aggregate, EmptyRelation, Expr as PlanExpr, Limit, LogicalPlan, LogicalPlanBuilder, lit,
};
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Expr, ExprKind, OperatorParameter};
use hindsight_kql_types::{ScalarType, Value};

use crate::context::{BindContext, wildcard_matches};
use crate::datafusion::distinct_projections;
use crate::error::{BindResult, plan_error};
use crate::relation::{Column, ColumnRole, Output, Relation, named};
use crate::value::{null_scalar, value_to_scalar};

/// Begins the names of columns that the query cannot see. No query can write such a name.
const HIDDEN: char = '\0';

/// A name that no query can write.
pub(crate) fn hidden_name(tag: &str) -> String {
    format!("{HIDDEN}{tag}")
}

/// The columns that serve subtables; none outside `mv-apply` and `partition`.
pub(crate) fn groups(input: &Relation) -> Vec<Column> {
    let columns = input.columns.iter();
    columns.filter(|c| c.is_of_subtables()).cloned().collect()
}

/// The name of a column that travels with a subtable of the `mv-apply` at this depth.
pub(crate) fn carried_name(depth: usize, column: &str) -> String {
    hidden_name(&format!("carried{depth}.{column}"))
}

/// Of [`groups`], those that suffice to tell subtables apart.
pub(crate) fn subtable_keys(input: &Relation) -> Vec<Column> {
    let mut keys = groups(input);
    keys.retain(Column::tells_subtables_apart);
    keys
}

/// Of [`groups`], those that only travel with a subtable.
pub(crate) fn carried(input: &Relation) -> Vec<Column> {
    let mut carried = groups(input);
    carried.retain(|c| c.role == ColumnRole::Carried);
    carried
}

/// The columns of the result.
pub(crate) fn visible(input: &Relation) -> impl Iterator<Item = &Column> {
    let columns = input.columns.iter();
    columns.filter(|c| c.role == ColumnRole::Visible)
}

/// A column as an output of a projection.
pub(crate) fn pass(column: &Column) -> Output {
    Output::pass(column)
}

/// The field called `name`.
pub(crate) fn field(name: &str) -> PlanExpr {
    PlanExpr::Column(PlanColumn::new_unqualified(name))
}

/// Null of a type; `""` for strings.
pub(crate) fn missing(kind: ScalarType) -> PlanExpr {
    PlanExpr::Literal(null_scalar(kind), None)
}

/// A projection that keeps the columns that tell subtables apart.
///
/// A column that only passes keeps its field. Any other gets one that no projection below has, so that no two projections
/// of a plan are equal ([`chain`]).
pub(crate) fn project(
    input: Relation,
    columns: Vec<impl Into<Output>>,
    span: Span,
) -> BindResult<Relation> {
    let columns = columns.into_iter().map(Into::into);
    let mut all: Vec<Output> = groups(&input).iter().map(pass).collect();
    let own = all.len();
    all.extend(columns.filter(|o| o.role == ColumnRole::Visible));
    let names: Vec<String> = all.iter().map(|o| o.name.clone()).collect();
    let apart = distinct_projections::ends_a_piece(&input.plan);
    let below = distinct_projections::nodes(&input.plan);
    let mut taken: HashSet<String> = names.iter().take(own).cloned().collect();
    let mut passes = Vec::with_capacity(all.len());
    for output in all.iter_mut().skip(own) {
        let kept = passed_field(&output.expr, &input.columns);
        let kept = kept.filter(|field| taken.insert((*field).to_owned()));
        passes.push(kept.is_some());
        if let Some(field) = kept {
            output.name = field.to_owned();
        }
    }
    for (output, _) in all.iter_mut().skip(own).zip(passes).filter(|(_, p)| !p) {
        let name = output.name.as_str();
        if taken.contains(name) || distinct_projections::names_field(&input.plan, name) {
            output.name = hidden_name(&format!("{below}.{name}"));
        }
        if apart && !matches!(output.expr, PlanExpr::Column(_)) {
            let expr = output.expr.clone();
            output.expr =
                distinct_projections::kept_apart(expr, &input).map_err(|e| plan_error(e, span))?;
        }
    }
    let mut relation = input.project(all, span)?;
    for (column, name) in relation.columns.iter_mut().zip(names) {
        column.name = name;
    }
    Ok(relation)
}

/// The field of a column that an expression only passes. What holds a value for this operator alone, such as that of a
/// window function, is no column's.
fn passed_field<'e>(expr: &'e PlanExpr, columns: &[Column]) -> Option<&'e str> {
    let PlanExpr::Column(column) = expr else {
        return None;
    };
    let of_column = column.relation.is_none() && columns.iter().any(|c| c.field == column.name);
    of_column.then_some(column.name.as_str())
}

/// Refuses an operator that cannot keep subtables apart.
pub(crate) fn refuse_groups(
    input: &Relation,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<()> {
    if groups(input).is_empty() {
        Ok(())
    } else {
        Err(binder.unsupported("this operator inside 'mv-apply' or 'partition'", span))
    }
}

/// At most `count` rows.
pub(crate) fn limit(input: Relation, count: usize) -> Relation {
    let fetch = i64::try_from(count).unwrap_or(i64::MAX);
    Relation {
        plan: LogicalPlan::Limit(Limit {
            skip: None,
            fetch: Some(Box::new(lit(fetch))),
            input: Arc::new(input.plan),
        }),
        ..input
    }
}

/// The relation over an aggregation: keys and aggregates by name.
pub(crate) fn aggregate(
    input: Relation,
    keys: Vec<Output>,
    aggregates: Vec<Output>,
    span: Span,
) -> BindResult<Relation> {
    let exprs = |list: &[Output]| {
        let named = |o: &Output| named(o.expr.clone(), &o.name);
        list.iter().map(named).collect()
    };
    let plan = Aggregate::try_new(Arc::new(input.plan), exprs(&keys), exprs(&aggregates))
        .map(LogicalPlan::Aggregate)
        .and_then(|plan| {
            if keys.is_empty() {
                LogicalPlanBuilder::from(plan).limit(0, Some(1))?.build()
            } else {
                Ok(plan)
            }
        })
        .map_err(|e| plan_error(e, span))?;
    Ok(Relation {
        plan,
        columns: keys
            .into_iter()
            .chain(aggregates)
            .map(|output| output.column())
            .collect(),
        serialized: false,
    })
}

/// No rows.
pub(crate) fn no_rows(columns: Vec<Column>, span: Span) -> BindResult<Relation> {
    let fields = columns
        .iter()
        .map(|c| Field::new(&c.name, c.kind.arrow(), true))
        .collect::<Vec<_>>();
    let schema = DFSchema::try_from(Schema::new(fields)).map_err(|e| plan_error(e, span))?;
    Ok(Relation {
        plan: LogicalPlan::EmptyRelation(EmptyRelation {
            produce_one_row: false,
            schema: Arc::new(schema),
        }),
        columns,
        serialized: false,
    })
}

/// Rows that are known while binding; `rows` holds a value of the column's type for each column.
pub(crate) fn fixed_rows(
    columns: &[(String, ScalarType)],
    rows: &[Vec<Value>],
    span: Span,
) -> BindResult<Relation> {
    if rows.is_empty() || columns.is_empty() {
        let columns = columns.iter().cloned().map(Column::from).collect();
        return no_rows(columns, span);
    }
    let arrays = columns
        .iter()
        .enumerate()
        .map(|(index, (_, kind))| array_of(rows.iter().filter_map(|row| row.get(index)), *kind))
        .collect::<datafusion::common::Result<Vec<ArrayRef>>>()
        .map_err(|e| plan_error(e, span))?;
    let schema = Arc::new(schema_of(columns));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
        .map_err(|e| plan_error(e.into(), span))?;
    let table = MemTable::try_new(schema, vec![vec![batch]]).map_err(|e| plan_error(e, span))?;
    let plan = LogicalPlanBuilder::scan("rows", provider_as_source(Arc::new(table)), None)
        .and_then(LogicalPlanBuilder::build)
        .map_err(|e| plan_error(e, span))?;
    let outputs = columns
        .iter()
        .map(|(name, kind)| {
            let column = PlanExpr::Column(PlanColumn::new(Some("rows"), name));
            (name.clone(), *kind, column.alias(name))
        })
        .collect::<Vec<_>>();
    let scan = Relation {
        plan,
        columns: Vec::new(),
        serialized: false,
    };
    scan.project(outputs, span)
}

/// The array of values of one type.
pub(crate) fn array_of<'v>(
    values: impl Iterator<Item = &'v Value>,
    kind: ScalarType,
) -> datafusion::common::Result<ArrayRef> {
    let mut scalars = values.map(value_to_scalar).peekable();
    match scalars.peek() {
        Some(_) => ScalarValue::iter_to_array(scalars),
        None => Ok(new_empty_array(&kind.arrow())),
    }
}

/// The Arrow schema of columns.
pub(crate) fn schema_of(columns: &[(String, ScalarType)]) -> Schema {
    Schema::new(
        columns
            .iter()
            .map(|(name, kind)| Field::new(name, kind.arrow(), true))
            .collect::<Vec<_>>(),
    )
}

/// The column that a plain name means.
pub(crate) fn column_named<'r>(
    expr: &Expr,
    input: &'r Relation,
    binder: &dyn BindContext,
) -> BindResult<&'r Column> {
    let Some(name) = expr.as_name() else {
        return Err(binder.error("SEM0001", "a column name is expected here", expr.span));
    };
    input.column(name).ok_or_else(|| {
        binder.error(
            "SEM0100",
            format!("Failed to resolve column or scalar expression named '{name}'"),
            expr.span,
        )
    })
}

/// The visible columns that a name or a pattern with `*` means, in the input's order. A pattern may match nothing.
pub(crate) fn columns_matching(
    expr: &Expr,
    input: &Relation,
    binder: &dyn BindContext,
) -> BindResult<Vec<Column>> {
    match &expr.unparenthesised().kind {
        ExprKind::Wildcard(pattern) => Ok(visible(input)
            .filter(|c| wildcard_matches(pattern, &c.name))
            .cloned()
            .collect()),
        _ => Ok(vec![column_named(expr, input, binder)?.clone()]),
    }
}

/// The value of an operator's parameter, by any of its spellings.
pub(crate) fn parameter<'p>(
    parameters: &'p [OperatorParameter],
    names: &[&str],
) -> Option<&'p Expr> {
    parameters
        .iter()
        .rev()
        .find(|p| names.iter().any(|n| p.name.text.eq_ignore_ascii_case(n)))
        .map(|p| &p.value)
}

/// `name`, or `name1`, `name2`, … where it is taken.
pub(crate) fn free_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        name.to_owned()
    } else {
        (1..)
            .map(|n: usize| format!("{name}{n}"))
            .find(|n| !taken(n))
            .unwrap_or_default()
    }
}
