//! Random rows that the source of a table draws itself: `requests | sample 10` reads ten rows and not the whole table.
//!
//! The pass rewrites bound plans. It removes a `sample` whose input has exactly the rows of a table, which only projections have
//! changed, and lets the scan return random rows of the table. Each set of rows of the table is then as likely as it is
//! in a sample of the projected rows, because a projection maps each row of its input to one row. Volatile expressions
//! are evaluated once for each row that remains, as for all rows before.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{LogicalPlan, TableScan, TableSource};

use crate::query::BoundQuery;
use crate::random::RandomSource;
use crate::transform::random_rows;

/// The largest sample that a source draws. In a larger one most pages of the source have a row, and the numbers of the rows take
/// memory that is not reserved.
const MAX_DRAWN: usize = 10_000;

/// Reads random rows of sources.
pub trait RandomRowSource: Send + Sync {
    /// A source that returns, at each scan, `count` rows of `source`, or all if they are fewer. `random` chooses their numbers
    /// ([`RandomSource::choose`]). `None` if the source cannot read rows by number.
    fn with_random_rows(
        &self,
        source: &Arc<dyn TableSource>,
        count: usize,
        random: &RandomSource,
    ) -> Option<Arc<dyn TableSource>>;
}

impl BoundQuery {
    /// Rewrites a query to draw samples of whole tables in the tables' sources. Every sample of rows stays as likely as it is.
    ///
    /// # Errors
    /// An error of DataFusion about a rewritten plan, which is a defect of this pass.
    pub fn with_random_rows(mut self, source: &dyn RandomRowSource) -> Result<BoundQuery> {
        for result in &mut self.results {
            result.plan = rewrite(result.plan.clone(), source)?;
        }
        for step in &mut self.steps {
            step.plan = rewrite(step.plan.clone(), source)?;
        }
        Ok(self)
    }
}

fn rewrite(plan: LogicalPlan, source: &dyn RandomRowSource) -> Result<LogicalPlan> {
    let replaced = plan.transform_down_with_subqueries(|node| {
        let LogicalPlan::Extension(extension) = &node else {
            return Ok(Transformed::no(node));
        };
        let drawn = match (random_rows(extension), node.inputs().first()) {
            (Some((count, random)), Some(input)) if count <= MAX_DRAWN => {
                let scan = |scan: &TableScan| source.with_random_rows(&scan.source, count, random);
                with_source(input, &scan)?
            }
            _ => None,
        };
        Ok(drawn.map_or_else(|| Transformed::no(node), Transformed::yes))
    })?;
    Ok(replaced.data)
}

/// `plan` with another source, if it consists of projections of the whole rows of a table.
fn with_source(
    plan: &LogicalPlan,
    replace: &dyn Fn(&TableScan) -> Option<Arc<dyn TableSource>>,
) -> Result<Option<LogicalPlan>> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let whole =
                scan.projection.is_none() && scan.filters.is_empty() && scan.fetch.is_none();
            let source = whole.then(|| replace(scan)).flatten();
            Ok(source.map(|source| {
                LogicalPlan::TableScan(TableScan {
                    source,
                    ..scan.clone()
                })
            }))
        }
        LogicalPlan::Projection(_) | LogicalPlan::SubqueryAlias(_) => {
            let Some(input) = plan.inputs().first().copied() else {
                return Ok(None);
            };
            let Some(input) = with_source(input, replace)? else {
                return Ok(None);
            };
            plan.with_new_exprs(plan.expressions(), vec![input])
                .map(Some)
        }
        _ => Ok(None),
    }
}
