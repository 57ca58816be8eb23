//! The scan of one row group: selects rows step by step and returns their output.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::record_batch::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::error::Result;

use super::coded::{CachedColumn, Columns};
use super::latest::LatestTest;
use super::scan_plan::{ScanPlan, Test, select};

/// The first rows of a row group that are tested at once if a dynamic filter may exclude the rest and columns are read from the file for
/// the selected ones. The next steps are eight times larger each.
const FIRST_STEP: usize = 1024;

/// A row group that is being scanned.
#[derive(Debug)]
pub(super) struct GroupScan {
    columns: Columns,
    tests: Vec<Test>,
    rows: usize,
    next: usize,
    step: usize,
    growth: usize,
    /// The distinct values of each dictionary of the output; `None` if the output has none, or a column of one has no codes.
    dictionaries: Option<Vec<ArrayRef>>,
    latest: Option<LatestTest>,
}

/// Selected rows of a row group.
#[derive(Debug)]
pub(super) struct Selected {
    /// The rows that were tested.
    pub(super) rows: Range<usize>,
    /// Which of them were selected; `None` for all.
    pub(super) selected: Option<BooleanArray>,
}

impl Selected {
    /// The number of selected rows.
    pub(super) fn count(&self) -> usize {
        self.selected
            .as_ref()
            .map_or(self.rows.len(), BooleanArray::true_count)
    }
}

impl GroupScan {
    /// Prepares the scan of a row group with `rows` rows; `None` if no row is selected. Conditions over columns that are not in memory are
    /// not tested.
    pub(super) fn new(
        plan: &ScanPlan,
        columns: Columns,
        rows: usize,
        batch_size: usize,
        reads_file: bool,
    ) -> Option<GroupScan> {
        let (mut by_code, mut by_expression) = (Vec::new(), Vec::new());
        for (index, condition) in plan.conditions.iter().enumerate() {
            if !condition.columns.iter().all(|c| columns.contains_key(c)) {
                continue;
            }
            let matches = match condition.columns.as_slice() {
                [column] => match columns.get(column).map(Arc::as_ref) {
                    Some(CachedColumn::Coded { values, .. }) => condition
                        .of_values(values)
                        .map(|matches| (*column, matches)),
                    _ => None,
                },
                _ => None,
            };
            match matches {
                Some((_, matches)) if !matches.contains(&true) => return None,
                Some((_, matches)) if !matches.contains(&false) => {}
                Some((column, matches)) => by_code.push(Test::Codes(column, matches)),
                None => by_expression.push(Test::Expression(index)),
            }
        }
        // Numbers are compared faster than texts are searched.
        by_expression.sort_by_key(|test| match test {
            Test::Expression(index) => plan.conditions.get(*index).map_or(0, |condition| {
                let is_text = |column: &usize| match columns.get(column).map(Arc::as_ref) {
                    Some(CachedColumn::Plain(array)) => !array.data_type().is_primitive(),
                    _ => true,
                };
                condition.columns.iter().filter(|c| is_text(c)).count()
            }),
            Test::Codes(..) => 0,
        });
        by_code.append(&mut by_expression);
        let (step, growth) = match (reads_file, plan.is_dynamic()) {
            (false, _) => (batch_size, 1),
            (true, true) => (FIRST_STEP, 8),
            (true, false) => (rows, 1),
        };
        let distinct = |index: usize| columns.get(&index)?.distinct();
        let coded = plan.coded.as_ref();
        Some(GroupScan {
            latest: plan
                .latest
                .as_ref()
                .and_then(|latest| latest.test(&columns)),
            dictionaries: coded.and_then(|coded| coded.dictionaries(distinct)),
            columns,
            tests: by_code,
            rows,
            next: 0,
            step: step.max(1),
            growth,
        })
    }

    /// Whether rows at this time or before may be needed.
    pub(super) fn may_have(&self, time: i64) -> bool {
        let latest = self.latest.as_ref();
        latest.is_none_or(|latest| latest.may_have(time))
    }

    /// The next rows with a selected one among them; `None` at the end.
    pub(super) fn next(&mut self, plan: &ScanPlan) -> Result<Option<Selected>> {
        while self.next < self.rows {
            let rows = self.next..self.rows.min(self.next + self.step);
            self.next = rows.end;
            self.step *= self.growth;
            let selected = select(&plan.conditions, &self.tests, &rows, |index| {
                self.column(index).map(Arc::as_ref)
            })?;
            let selected = match &mut self.latest {
                Some(latest) => Some(latest.select(&rows, selected.as_ref())?),
                None => selected,
            };
            let found = Selected { rows, selected };
            if found.count() > 0 {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The output for selected rows, if all of its columns are in memory.
    pub(super) fn output(&self, plan: &ScanPlan, found: &Selected) -> Result<RecordBatch> {
        if let (Some(coded), Some(dictionaries)) = (&plan.coded, &self.dictionaries) {
            let codes = |column: usize| {
                let column = self.column(column)?;
                column.codes(&found.rows, found.selected.as_ref())
            };
            let values = |column: usize| self.values(column, found);
            return coded.output(
                &plan.output_schema,
                found.count(),
                dictionaries,
                codes,
                values,
            );
        }
        plan.output(found.count(), |column| self.values(column, found))
    }

    /// The values of a column in memory for selected rows.
    pub(super) fn values(&self, column: usize, found: &Selected) -> Result<ArrayRef> {
        self.column(column)?
            .rows(&found.rows, found.selected.as_ref())
    }

    pub(super) fn has(&self, column: usize) -> bool {
        self.columns.contains_key(&column)
    }

    fn column(&self, index: usize) -> Result<&Arc<CachedColumn>> {
        self.columns.get(&index).ok_or_else(|| {
            DataFusionError::Internal(format!("column {index} of a row group is not in memory"))
        })
    }
}
