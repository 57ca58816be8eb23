//! The scan of one row group: selects rows step by step and returns their output.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::record_batch::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::error::Result;

use super::cache::RowGroup;
use super::coded::{CachedColumn, Columns};
use super::latest::LatestTest;
use super::scan_plan::{ScanPlan, Test, select};

/// The first rows of a row group that are tested at once if a dynamic filter may exclude the rest and columns are read from the file for
/// the selected ones.
const FIRST_STEP: usize = 1024;
/// How much more rows are tested or returned at once with each step, if a dynamic filter may exclude the rest.
const GROWTH: usize = 8;

/// A row group that is being scanned.
#[derive(Debug)]
pub(super) struct GroupScan {
    columns: Columns,
    tests: Vec<Test>,
    rows: usize,
    next: usize,
    steps: Steps,
    /// The distinct values of each dictionary of the output; `None` if the output has none, or a column of one has no codes.
    dictionaries: Option<Vec<ArrayRef>>,
    latest: Option<LatestTest>,
}

/// How many rows are tested and returned at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    tested: usize,
    returned: usize,
    /// How much larger both are with each step.
    growth: usize,
}

impl Steps {
    /// Equal numbers of rows are tested.
    pub(super) fn of(rows: usize) -> Steps {
        Steps {
            tested: rows.max(1),
            returned: usize::MAX,
            growth: 1,
        }
    }

    /// Columns are read from the file for the selected ones of `rows` rows: few reads of many rows cost least, but rows that are returned
    /// let a dynamic filter exclude others.
    pub(super) fn reading_file(plan: &ScanPlan, rows: usize) -> Steps {
        match &plan.top {
            Some(top) => Steps {
                tested: rows.max(1),
                returned: top.rows,
                growth: GROWTH,
            },
            None if plan.is_dynamic() => Steps {
                tested: FIRST_STEP,
                returned: usize::MAX,
                growth: GROWTH,
            },
            None => Steps::of(rows),
        }
    }
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

    /// The rows up to the `count`-th selected one.
    fn first(self, count: usize) -> Selected {
        let last = count.saturating_sub(1);
        let place = match &self.selected {
            None => Some(last).filter(|last| *last < self.rows.len()),
            Some(selected) if selected.len() > count => selected.values().set_indices().nth(last),
            Some(_) => None,
        };
        let Some(place) = place else {
            return self;
        };
        Selected {
            rows: self.rows.start..self.rows.start + place + 1,
            selected: self.selected.map(|selected| selected.slice(0, place + 1)),
        }
    }
}

impl GroupScan {
    /// Prepares the scan of a row group, of which `known` selects some rows; `None` if no row is selected. Conditions over columns
    /// that are not in memory are not tested, nor are those that all rows meet by their time.
    pub(super) fn new(
        plan: &ScanPlan,
        columns: Columns,
        known: Vec<BooleanBuffer>,
        group: &RowGroup,
        steps: Steps,
    ) -> Option<GroupScan> {
        let (mut by_code, mut by_expression) = (Vec::new(), Vec::new());
        for (index, condition) in plan.conditions.iter().enumerate() {
            let is_met = !condition.dynamic && condition.is_met_between(group.min_ts, group.max_ts);
            if is_met || !condition.columns.iter().all(|c| columns.contains_key(c)) {
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
            Test::Codes(..) | Test::Known(_) => 0,
        });
        let known = known.into_iter().map(Test::Known);
        let tests = known.chain(by_code).chain(by_expression).collect();
        let distinct = |index: usize| columns.get(&index)?.distinct();
        let coded = plan.coded.as_ref();
        Some(GroupScan {
            latest: plan
                .latest
                .as_ref()
                .and_then(|latest| latest.test(&columns)),
            dictionaries: coded.and_then(|coded| coded.dictionaries(distinct)),
            columns,
            tests,
            rows: group.rows,
            next: 0,
            steps,
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
            let end = self.next.saturating_add(self.steps.tested);
            let rows = self.next..self.rows.min(end);
            let candidates = plan.top.as_ref().and_then(|top| {
                let column = self.columns.get(&top.column)?;
                top.candidates(column, &rows)
            });
            let column = |index| self.column(index).map(Arc::as_ref);
            let selected = select(&plan.conditions, &self.tests, &rows, candidates, column)?;
            let selected = match &mut self.latest {
                Some(latest) => Some(latest.select(&rows, selected.as_ref())?),
                None => selected,
            };
            let found = Selected { rows, selected }.first(self.steps.returned);
            self.next = found.rows.end;
            self.steps.tested = self.steps.tested.saturating_mul(self.steps.growth);
            self.steps.returned = self.steps.returned.saturating_mul(self.steps.growth);
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

    pub(super) fn column(&self, index: usize) -> Result<&Arc<CachedColumn>> {
        self.columns.get(&index).ok_or_else(|| {
            DataFusionError::Internal(format!("column {index} of a row group is not in memory"))
        })
    }
}
