//! What one scan does with each row group: the conditions that select rows, and the columns of its output.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{and, prep_null_mask_filter};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, InListExpr, Literal, NotExpr};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{
    DynamicFilterTracking, PhysicalExpr, ScalarFunctionExpr, split_conjunction,
};
use datafusion::physical_expr_common::physical_expr::is_volatile;

use super::batch::batch;
use super::bounds::bounds_of;
use super::coded::CachedColumn;
use super::coded_output::CodedOutput;
use super::latest::LatestPlan;
use super::top_rows::TopBound;
use crate::time_range::TimeRange;

/// Columns of an output from which on those of selected rows are read from the file: a wide output would displace the columns that many
/// queries read.
const WIDE_OUTPUT: usize = 8;

/// A scan over the columns of a table.
#[derive(Debug)]
pub(super) struct ScanPlan {
    /// The table's columns.
    pub(super) table: SchemaRef,
    /// The conditions, all of which a row must meet.
    pub(super) conditions: Vec<Condition>,
    /// The columns that conditions and [`ScanPlan::top`] read, as indexes of the table's schema.
    pub(super) tested: Vec<usize>,
    /// The columns that the output reads.
    pub(super) returned: Vec<usize>,
    returned_schema: SchemaRef,
    /// The output, over the columns that it reads.
    output: Vec<Arc<dyn PhysicalExpr>>,
    pub(super) output_schema: SchemaRef,
    /// The output by codes, if it has dictionaries.
    pub(super) coded: Option<CodedOutput>,
    /// The rows that are needed, if they are the latest of groups.
    pub(super) latest: Option<LatestPlan>,
    /// The bound of a sort above the scan that returns its first rows only.
    pub(super) top: Option<Arc<TopBound>>,
}

/// One condition, over the columns that it reads.
#[derive(Debug)]
pub(super) struct Condition {
    expr: Arc<dyn PhysicalExpr>,
    pub(super) columns: Vec<usize>,
    schema: SchemaRef,
    /// Whether it changes while the query runs.
    pub(super) dynamic: bool,
    /// Whether the rows that meet it may be remembered: it compares or searches one column, and each of its results is final.
    pub(super) is_search: bool,
}

impl ScanPlan {
    /// The plan of a scan; `None` if rows cannot be tested in any order.
    pub(super) fn new(
        table: &SchemaRef,
        predicate: Option<&Arc<dyn PhysicalExpr>>,
        projection: &ProjectionExprs,
        top: Option<Arc<TopBound>>,
    ) -> Result<Option<ScanPlan>> {
        if predicate.is_some_and(is_volatile) {
            return Ok(None);
        }
        let conditions = predicate.map(split_conjunction).unwrap_or_default();
        let conditions = conditions
            .into_iter()
            .map(|expr| Condition::new(expr, table));
        let conditions = conditions.collect::<Result<Vec<_>>>()?;
        let tested: BTreeSet<usize> = conditions
            .iter()
            .flat_map(|condition| condition.columns.iter().copied())
            .chain(top.as_ref().map(|top| top.column))
            .collect();
        let returned: BTreeSet<usize> = projection
            .iter()
            .flat_map(|output| collect_columns(&output.expr))
            .map(|column| column.index())
            .collect();
        let returned: Vec<usize> = returned.into_iter().collect();
        let returned_schema = Arc::new(table.project(&returned)?);
        let output = projection
            .iter()
            .map(|output| reassign_expr_columns(Arc::clone(&output.expr), &returned_schema));
        Ok(Some(ScanPlan {
            conditions,
            tested: tested.into_iter().collect(),
            output: output.collect::<Result<_>>()?,
            output_schema: Arc::new(projection.project_schema(table)?),
            coded: CodedOutput::new(table, projection)?,
            latest: None,
            returned,
            returned_schema,
            table: Arc::clone(table),
            top,
        }))
    }

    /// Whether the predicate changes while the query runs.
    pub(super) fn is_dynamic(&self) -> bool {
        self.conditions.iter().any(|condition| condition.dynamic)
    }

    /// The bounds of time that the conditions set now.
    pub(super) fn bounds(&self) -> TimeRange {
        self.conditions
            .iter()
            .map(|condition| bounds_of(condition.expr.as_ref()))
            .fold(TimeRange::ALL, TimeRange::and)
    }

    /// The columns by which rows are selected.
    pub(super) fn tested(&self) -> impl Iterator<Item = usize> {
        let latest = self.latest.iter().flat_map(LatestPlan::columns);
        self.tested.iter().copied().chain(latest)
    }

    /// The columns that the scan decodes to keep them, if they are not in memory: those of a wide output are read for selected rows.
    pub(super) fn loaded(&self) -> Vec<usize> {
        if self.is_narrow() {
            self.columns()
        } else {
            self.tested().collect()
        }
    }

    /// Whether the columns of the output are decoded to be kept.
    pub(super) fn is_narrow(&self) -> bool {
        self.returned.len() < WIDE_OUTPUT
    }

    /// Whether the first rows by time are returned, and no condition excludes them: then the scan ends after the segments that have them.
    pub(super) fn reads_few_segments(&self) -> bool {
        let by_time = self.top.as_ref().is_some_and(|top| top.by_time);
        by_time && self.conditions.iter().all(|condition| condition.dynamic)
    }

    /// All columns that the scan reads.
    pub(super) fn columns(&self) -> Vec<usize> {
        let all: BTreeSet<usize> = self.tested().chain(self.returned.iter().copied()).collect();
        all.into_iter().collect()
    }

    pub(super) fn name(&self, column: usize) -> &str {
        self.table
            .fields()
            .get(column)
            .map_or("", |field| field.name())
    }

    /// The output for rows, of which `column` returns the values of a column.
    pub(super) fn output(
        &self,
        rows: usize,
        mut column: impl FnMut(usize) -> Result<ArrayRef>,
    ) -> Result<RecordBatch> {
        let columns = self.returned.iter().map(|index| column(*index));
        let columns = columns.collect::<Result<_>>()?;
        let read = batch(Arc::clone(&self.returned_schema), columns, rows)?;
        let columns = self
            .output
            .iter()
            .map(|expr| expr.evaluate(&read)?.into_array(rows));
        batch(
            Arc::clone(&self.output_schema),
            columns.collect::<Result<_>>()?,
            rows,
        )
    }
}

impl Condition {
    fn new(expr: &Arc<dyn PhysicalExpr>, table: &Schema) -> Result<Condition> {
        let columns: BTreeSet<usize> = collect_columns(expr).iter().map(|c| c.index()).collect();
        let columns: Vec<usize> = columns.into_iter().collect();
        let schema = Arc::new(table.project(&columns)?);
        Ok(Condition {
            expr: reassign_expr_columns(Arc::clone(expr), &schema)?,
            dynamic: DynamicFilterTracking::classify(expr).contains_dynamic_filter(),
            is_search: columns.len() == 1 && is_search(expr, table)?,
            columns,
            schema,
        })
    }

    /// The condition over the one column that it reads, which identifies it among conditions of scans.
    pub(super) fn expr(&self) -> &Arc<dyn PhysicalExpr> {
        &self.expr
    }

    /// Whether each row between two times, ends included, meets the condition because it compares the time with a constant.
    pub(super) fn is_met_between(&self, min_ts: i64, max_ts: i64) -> bool {
        let bounds = bounds_of(self.expr.as_ref());
        bounds != TimeRange::ALL && bounds.from <= min_ts && max_ts <= bounds.to
    }

    /// For each of some rows whether it meets the condition; `column` returns the values of a column for them.
    pub(super) fn evaluate(
        &self,
        rows: usize,
        mut column: impl FnMut(usize) -> Result<ArrayRef>,
    ) -> Result<BooleanArray> {
        let columns = self.columns.iter().map(|index| column(*index));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        self.evaluate_batch(&batch(Arc::clone(&self.schema), columns, rows)?)
    }

    fn evaluate_batch(&self, rows: &RecordBatch) -> Result<BooleanArray> {
        let met = self.expr.evaluate(rows)?.into_array(rows.num_rows())?;
        let met = met.as_boolean_opt().ok_or_else(|| {
            DataFusionError::Internal(format!("the condition {} is not a bool", self.expr))
        })?;
        // A row for which a condition is null is not selected.
        Ok(if met.null_count() > 0 {
            prep_null_mask_filter(met)
        } else {
            met.clone()
        })
    }

    /// For each distinct value of a coded column whether it meets the condition. `None` if the condition reads other columns, or if it
    /// fails: it may fail for a value that no row has which meets the other conditions.
    pub(super) fn of_values(&self, values: &ArrayRef) -> Option<Vec<bool>> {
        if self.columns.len() != 1 || self.dynamic {
            return None;
        }
        let rows = batch(
            Arc::clone(&self.schema),
            vec![Arc::clone(values)],
            values.len(),
        )
        .ok()?;
        let met = self.evaluate_batch(&rows).ok()?;
        Some(met.values().iter().collect())
    }
}

/// Whether an expression consists of comparisons and of functions that test columns and constants: calls within calls may depend on more than
/// their arguments, such as a database of addresses.
fn is_search(expr: &Arc<dyn PhysicalExpr>, table: &Schema) -> Result<bool> {
    let is_operand = |expr: &Arc<dyn PhysicalExpr>| expr.is::<Column>() || expr.is::<Literal>();
    if is_operand(expr) {
        return Ok(true);
    }
    if let Some(call) = expr.downcast_ref::<ScalarFunctionExpr>() {
        let is_test = call.data_type(table)? == DataType::Boolean;
        return Ok(is_test && call.args().iter().all(is_operand));
    }
    let is_known = expr.is::<BinaryExpr>() || expr.is::<NotExpr>() || expr.is::<InListExpr>();
    let mut children = expr.children().into_iter();
    Ok(is_known
        && children.try_fold(true, |all, child| {
            Ok::<_, DataFusionError>(all && is_search(child, table)?)
        })?)
}

/// How a condition tests the rows of a row group.
#[derive(Debug)]
pub(super) enum Test {
    /// By what is remembered: a bit for each row.
    Known(BooleanBuffer),
    /// By the code of a column: whether each distinct value meets the condition.
    Codes(usize, Vec<bool>),
    /// By its expression.
    Expression(usize),
}

/// Selects rows among `rows`, or among those of them that `candidates` has a true for, with tests in their order; `None` for all of them.
/// Tests by expression see only the rows that are selected before, if these are few.
pub(super) fn select<'c>(
    conditions: &[Condition],
    tests: &[Test],
    rows: &Range<usize>,
    candidates: Option<BooleanArray>,
    column: impl Fn(usize) -> Result<&'c CachedColumn>,
) -> Result<Option<BooleanArray>> {
    let mut selected = candidates;
    for test in tests {
        if selected.as_ref().is_some_and(|rows| !rows.has_true()) {
            return Ok(selected);
        }
        let met = match test {
            Test::Known(bits) => BooleanArray::from(bits.slice(rows.start, rows.len())),
            Test::Codes(index, matches) => match column(*index)? {
                CachedColumn::Coded { codes, .. } => {
                    BooleanArray::from(codes.matching(rows, matches))
                }
                CachedColumn::Plain(_) => continue,
            },
            Test::Expression(index) => {
                let Some(condition) = conditions.get(*index) else {
                    continue;
                };
                let few = selected
                    .as_ref()
                    .filter(|selected| selected.true_count() * 4 < rows.len());
                let count = few.map_or(rows.len(), BooleanArray::true_count);
                let met = condition.evaluate(count, |index| column(index)?.rows(rows, few))?;
                match few {
                    Some(few) => spread(few, &met),
                    None => met,
                }
            }
        };
        selected = Some(match selected {
            Some(before) => and(&before, &met)?,
            None => met,
        });
    }
    Ok(selected.filter(|selected| selected.true_count() < rows.len()))
}

/// `met`, which has an element for each true of `selected`, at the places of these.
fn spread(selected: &BooleanArray, met: &BooleanArray) -> BooleanArray {
    let mut places = BooleanBufferBuilder::new(selected.len());
    places.append_n(selected.len(), false);
    for (place, met) in selected.values().set_indices().zip(met.values()) {
        places.set_bit(place, met);
    }
    BooleanArray::from(places.finish())
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::Field;
    use datafusion::config::ConfigOptions;
    use datafusion::functions::core::nvl;
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    use super::*;

    #[test]
    fn rows_are_remembered_for_tests_of_a_column_and_constants_only() {
        let fields = [("flag", DataType::Boolean), ("code", DataType::Int64)];
        let fields = fields.map(|(name, kind)| Field::new(name, kind, true));
        let table = Schema::new(fields.to_vec());
        let column = |name: &str| col(name, &table).unwrap();
        let call = |args: Vec<Arc<dyn PhysicalExpr>>| -> Arc<dyn PhysicalExpr> {
            let config = Arc::new(ConfigOptions::default());
            Arc::new(ScalarFunctionExpr::try_new(nvl(), args, &table, config).unwrap())
        };
        let is_equal = |left, right| binary(left, Operator::Eq, right, &table).unwrap();
        let test = call(vec![column("flag"), lit(true)]);
        let number = call(vec![column("code"), lit(0_i64)]);
        for (expr, expected) in [
            (is_equal(column("code"), lit(5_i64)), true),
            (test.clone(), true),
            (is_equal(test.clone(), lit(false)), true),
            // A function that computes a value, and a test of what another function returns.
            (is_equal(number, lit(5_i64)), false),
            (call(vec![test, lit(true)]), false),
        ] {
            assert_eq!(is_search(&expr, &table).unwrap(), expected, "{expr}");
        }
    }
}
