//! What is grouped and aggregated: the keys and aggregates of an aggregation whose keys have codes.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

use crate::aggregates::{picks_largest, takes_dictionary};
use crate::bins::bin_of_column;

/// The most bins of time that the statistics of the input may allow.
const MAX_BINS: i64 = 65_536;

/// The grouping of an aggregation by codes.
#[derive(Debug, Clone)]
pub(super) struct GroupPlan {
    /// The keys, in the order of the output.
    pub(super) keys: Vec<Key>,
    pub(super) aggregates: Vec<AggregatePlan>,
    /// The columns of the input that must be dictionaries.
    pub(super) dictionaries: Vec<usize>,
    /// The rows that are needed, if they are not all.
    pub(super) latest: Option<LatestRows>,
    /// The columns that the arguments and filters of aggregates read, and their schema.
    pub(super) read: Vec<usize>,
    pub(super) read_schema: SchemaRef,
}

/// Each combination of texts of some columns needs its latest row alone.
#[derive(Debug, Clone)]
pub(super) struct LatestRows {
    pub(super) keys: Vec<usize>,
    pub(super) time: usize,
}

/// A key of groups.
#[derive(Debug, Clone)]
pub(super) enum Key {
    /// An expression over one dictionary.
    Coded(CodedExpr),
    /// A column of times, each rounded down to a multiple of a width in ticks.
    Bins { column: usize, width: i64 },
}

/// An expression that reads one text column of the input.
#[derive(Debug, Clone)]
pub(super) struct CodedExpr {
    pub(super) column: usize,
    /// Over the schema of that column alone.
    pub(super) expr: Arc<dyn PhysicalExpr>,
    pub(super) schema: SchemaRef,
}

/// An aggregate.
#[derive(Debug, Clone)]
pub(super) struct AggregatePlan {
    pub(super) function: Arc<AggregateFunctionExpr>,
    pub(super) arguments: Arguments,
    pub(super) filter: Option<Filter>,
}

/// The arguments of an aggregate.
#[derive(Debug, Clone)]
pub(super) enum Arguments {
    /// None that matter: each row counts.
    Rows,
    /// A dictionary.
    Dictionary(usize),
    /// Expressions over [`GroupPlan::read`].
    Values(Vec<Arc<dyn PhysicalExpr>>),
}

/// The condition of the rows that an aggregate takes.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    /// Evaluated once for each value of a dictionary.
    Coded(CodedExpr),
    /// Over [`GroupPlan::read`].
    Values(Arc<dyn PhysicalExpr>),
}

impl GroupPlan {
    /// The plan of an aggregation over an input of the same schema; `None` if a key has no codes, or if an aggregate needs more than
    /// its groups. With `all`, arguments and filters use codes too.
    pub(super) fn of(
        aggregate: &AggregateExec,
        input: &Arc<dyn ExecutionPlan>,
        all: bool,
    ) -> Result<Option<GroupPlan>> {
        let schema = input.schema();
        let mut keys = Vec::new();
        for (expr, _) in aggregate.group_expr().expr() {
            let key = match bins(expr, input)? {
                Some(bins) => Some(bins),
                None => CodedExpr::of(expr, &schema)?.map(Key::Coded),
            };
            match key {
                Some(key) => keys.push(key),
                None => return Ok(None),
            }
        }
        let functions = aggregate.aggr_expr().iter();
        let supported = functions.clone().all(|function| {
            !function.is_distinct()
                && function.order_bys().is_empty()
                && function.groups_accumulator_supported()
        });
        if keys.is_empty() || !supported {
            return Ok(None);
        }
        let mut aggregates = Vec::new();
        for (function, filter) in functions.zip(aggregate.filter_expr()) {
            aggregates.push(AggregatePlan {
                // Filtered rows of a dictionary are another dictionary, whose values would be hashed again.
                arguments: arguments(function, &schema, all && filter.is_none()),
                filter: filter
                    .as_ref()
                    .map(|filter| condition(filter, &schema, all))
                    .transpose()?,
                function: Arc::clone(function),
            });
        }
        let latest = latest(&keys, aggregate);
        let plan = GroupPlan::over(&schema, keys, aggregates)?;
        Ok(Some(GroupPlan { latest, ..plan }))
    }

    fn over(
        schema: &SchemaRef,
        keys: Vec<Key>,
        mut aggregates: Vec<AggregatePlan>,
    ) -> Result<GroupPlan> {
        let mut dictionaries = BTreeSet::new();
        let mut read = BTreeSet::new();
        for key in &keys {
            if let Key::Coded(coded) = key {
                dictionaries.insert(coded.column);
            }
        }
        for aggregate in &aggregates {
            match &aggregate.arguments {
                Arguments::Rows => {}
                Arguments::Dictionary(column) => {
                    dictionaries.insert(*column);
                }
                Arguments::Values(exprs) => {
                    read.extend(exprs.iter().flat_map(collect_columns).map(|c| c.index()));
                }
            }
            match &aggregate.filter {
                Some(Filter::Coded(coded)) => {
                    dictionaries.insert(coded.column);
                }
                Some(Filter::Values(expr)) => {
                    read.extend(collect_columns(expr).iter().map(Column::index));
                }
                None => {}
            }
        }
        let read: Vec<usize> = read.into_iter().collect();
        let read_schema = Arc::new(schema.project(&read)?);
        let moved = |expr: &mut Arc<dyn PhysicalExpr>| -> Result<()> {
            *expr = reassign_expr_columns(Arc::clone(expr), &read_schema)?;
            Ok(())
        };
        for aggregate in &mut aggregates {
            if let Arguments::Values(exprs) = &mut aggregate.arguments {
                exprs.iter_mut().try_for_each(moved)?;
            }
            if let Some(Filter::Values(expr)) = &mut aggregate.filter {
                moved(expr)?;
            }
        }
        Ok(GroupPlan {
            keys,
            aggregates,
            dictionaries: dictionaries.into_iter().collect(),
            latest: None,
            read,
            read_schema,
        })
    }
}

impl CodedExpr {
    /// The expression, if it reads one text column and always returns the same for the same text.
    fn of(expr: &Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Result<Option<CodedExpr>> {
        let columns = collect_columns(expr);
        let mut columns = columns.iter();
        let (Some(column), None) = (columns.next(), columns.next()) else {
            return Ok(None);
        };
        let is_text = *schema.field(column.index()).data_type() == DataType::Utf8View;
        if !is_text || is_volatile(expr) {
            return Ok(None);
        }
        let schema = Arc::new(schema.project(&[column.index()])?);
        Ok(Some(CodedExpr {
            column: column.index(),
            expr: reassign_expr_columns(Arc::clone(expr), &schema)?,
            schema,
        }))
    }
}

/// `bin(column, width)` over times whose bounds allow few bins.
fn bins(expr: &Arc<dyn PhysicalExpr>, input: &Arc<dyn ExecutionPlan>) -> Result<Option<Key>> {
    let Some((column, width)) = bin_of_column(expr) else {
        return Ok(None);
    };
    if *input.schema().field(column).data_type() != DataType::Int64 {
        return Ok(None);
    }
    let known = StatisticsContext::new().compute(input.as_ref(), &StatisticsArgs::new())?;
    let Some(column_bounds) = known.column_statistics.get(column) else {
        return Ok(None);
    };
    let bound = |value: Option<&ScalarValue>| match value {
        Some(ScalarValue::Int64(Some(ticks @ 0..))) => Some(*ticks),
        _ => None,
    };
    let (min, max) = (
        bound(column_bounds.min_value.get_value()),
        bound(column_bounds.max_value.get_value()),
    );
    let (Some(min), Some(max)) = (min, max) else {
        return Ok(None);
    };
    Ok(((max - min) / width <= MAX_BINS).then(|| Key::Bins { column, width }))
}

/// The latest rows, if all aggregates pick the row with the largest value of one column, which is a time if the scan can select by it.
fn latest(keys: &[Key], aggregate: &AggregateExec) -> Option<LatestRows> {
    let key = |key: &Key| match key {
        Key::Coded(coded) => Some(coded.column),
        Key::Bins { .. } => None,
    };
    let keys: BTreeSet<usize> = keys.iter().map(key).collect::<Option<_>>()?;
    let is_filtered = aggregate.filter_expr().iter().any(Option::is_some);
    let time = |function: &Arc<AggregateFunctionExpr>| {
        let arguments = function.expressions();
        let largest = arguments.first()?.downcast_ref::<Column>()?.index();
        picks_largest(function.fun()).then_some(largest)
    };
    let mut times = aggregate.aggr_expr().iter().map(time);
    let first = times.next()??;
    (!is_filtered && times.all(|time| time == Some(first))).then(|| LatestRows {
        keys: keys.into_iter().collect(),
        time: first,
    })
}

/// The arguments of an aggregate; `count` of a constant counts rows.
fn arguments(function: &AggregateFunctionExpr, schema: &SchemaRef, all: bool) -> Arguments {
    let arguments = function.expressions();
    let is_constant = |argument: &Arc<dyn PhysicalExpr>| {
        let literal = argument.downcast_ref::<Literal>();
        literal.is_some_and(|literal| !literal.value().is_null())
    };
    if function.fun().name() == "count" && arguments.iter().all(is_constant) {
        return Arguments::Rows;
    }
    let column = match arguments.as_slice() {
        [only] => only.downcast_ref::<Column>(),
        _ => None,
    };
    match column.map(Column::index) {
        Some(column)
            if all
                && takes_dictionary(function.fun())
                && *schema.field(column).data_type() == DataType::Utf8View =>
        {
            Arguments::Dictionary(column)
        }
        _ => Arguments::Values(arguments),
    }
}

fn condition(filter: &Arc<dyn PhysicalExpr>, schema: &SchemaRef, all: bool) -> Result<Filter> {
    let coded = if all {
        CodedExpr::of(filter, schema)?
    } else {
        None
    };
    Ok(match coded {
        Some(coded) => Filter::Coded(coded),
        None => Filter::Values(Arc::clone(filter)),
    })
}
