//! The rule of the physical optimiser that places [`GroupByCodesExec`].

use std::fmt::Debug;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

use super::exec::GroupByCodesExec;
use super::plan::GroupPlan;

/// Scans that can return texts as dictionaries.
pub trait DictionaryScans: Debug + Send + Sync {
    /// `scan` with dictionaries (`Dictionary(UInt32, Utf8View)`) in place of these columns of its output; `None` if it cannot return
    /// them, or if that is no faster.
    ///
    /// # Errors
    /// The plan of the scan cannot be changed.
    fn with_dictionaries(
        &self,
        scan: &Arc<dyn ExecutionPlan>,
        columns: &[usize],
    ) -> Result<Option<Arc<dyn ExecutionPlan>>>;

    /// `scan` without most of the rows whose time is not later than that of a row that it returned before with the same texts. The
    /// texts of `keys` and the times are columns of its output. `None` if it cannot select rows by them.
    fn with_latest(
        &self,
        scan: &Arc<dyn ExecutionPlan>,
        keys: &[usize],
        time: usize,
    ) -> Option<Arc<dyn ExecutionPlan>>;
}

/// Replaces partial aggregations over scans of dictionaries.
#[derive(Debug)]
pub(in crate::datafusion) struct GroupByCodes {
    pub(in crate::datafusion) scans: Arc<dyn DictionaryScans>,
}

impl PhysicalOptimizerRule for GroupByCodes {
    fn name(&self) -> &str {
        "group by codes"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let replaced = plan.transform_up(|node| {
            let Some(aggregate) = node.downcast_ref::<AggregateExec>() else {
                return Ok(Transformed::no(node));
            };
            Ok(match self.replaced(aggregate)? {
                Some(replaced) => Transformed::yes(replaced),
                None => Transformed::no(node),
            })
        });
        replaced.map(|transformed| transformed.data)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

impl GroupByCodes {
    fn replaced(&self, aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let plain = aggregate.group_expr().is_single()
            && aggregate.limit_options().is_none()
            && *aggregate.input_order_mode() == InputOrderMode::Linear;
        if !plain {
            return Ok(None);
        }
        match aggregate.mode() {
            AggregateMode::Partial => self.partial(aggregate),
            AggregateMode::Single | AggregateMode::SinglePartitioned => self.single(aggregate),
            _ => Ok(None),
        }
    }

    /// The partial aggregation; that of a union is the union of those of its inputs.
    fn partial(&self, aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(inputs) = united(aggregate.input())? else {
            return self.over(aggregate, aggregate.input());
        };
        let parts = inputs.into_iter().map(|input| {
            let part = self.over(aggregate, &input)?;
            Ok((input, part))
        });
        let parts = parts.collect::<Result<Vec<_>>>()?;
        if parts.iter().all(|(_, part)| part.is_none()) {
            return Ok(None);
        }
        let parts = parts.into_iter().map(|(input, part)| match part {
            Some(part) => Ok(part),
            None => partial_over(aggregate, &input).map(|partial| Arc::new(partial) as _),
        });
        UnionExec::try_new(parts.collect::<Result<_>>()?).map(Some)
    }

    /// An aggregation in one phase as one in two.
    fn single(&self, aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let partial = partial_over(aggregate, aggregate.input())?;
        let Some(coded) = self.partial(&partial)? else {
            return Ok(None);
        };
        let mode = match aggregate.mode() {
            AggregateMode::SinglePartitioned => AggregateMode::FinalPartitioned,
            _ => AggregateMode::Final,
        };
        let aggregates = aggregate.aggr_expr().to_vec();
        let last = AggregateExec::try_new(
            mode,
            aggregate.group_expr().as_final(),
            aggregates,
            vec![None; aggregate.aggr_expr().len()],
            coded,
            aggregate.input_schema(),
        )?;
        let same = last.schema() == aggregate.schema();
        Ok(same.then(|| Arc::new(last) as _))
    }

    fn over(
        &self,
        aggregate: &AggregateExec,
        input: &Arc<dyn ExecutionPlan>,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        for all in [true, false] {
            let Some(plan) = GroupPlan::of(aggregate, input, all)? else {
                return Ok(None);
            };
            let coded = match plan.dictionaries.as_slice() {
                [] => Some(Arc::clone(input)),
                columns => self.scans.with_dictionaries(input, columns)?,
            };
            if let Some(coded) = coded {
                let latest = plan.latest.as_ref();
                let latest = latest
                    .and_then(|latest| self.scans.with_latest(&coded, &latest.keys, latest.time));
                let coded = latest.unwrap_or(coded);
                let exec = GroupByCodesExec::new(plan, coded, aggregate.schema());
                return Ok(Some(Arc::new(exec)));
            }
        }
        Ok(None)
    }
}

/// The inputs of a union, or of a projection of one; `None` for another node.
fn united(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Vec<Arc<dyn ExecutionPlan>>>> {
    if let Some(union) = plan.downcast_ref::<UnionExec>() {
        return Ok(Some(union.children().into_iter().cloned().collect()));
    }
    let Some(projection) = plan.downcast_ref::<ProjectionExec>() else {
        return Ok(None);
    };
    let Some(union) = projection.input().downcast_ref::<UnionExec>() else {
        return Ok(None);
    };
    let inputs = union.children().into_iter().map(|input| {
        let projected = ProjectionExec::try_new(projection.expr().to_vec(), Arc::clone(input))?;
        let pushed = input.try_swapping_with_projection(&projected)?;
        Ok(pushed.unwrap_or_else(|| Arc::new(projected)))
    });
    inputs.collect::<Result<_>>().map(Some)
}

/// The partial phase of an aggregation over another input of the same schema.
fn partial_over(
    aggregate: &AggregateExec,
    input: &Arc<dyn ExecutionPlan>,
) -> Result<AggregateExec> {
    AggregateExec::try_new(
        AggregateMode::Partial,
        aggregate.group_expr().clone(),
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        Arc::clone(input),
        aggregate.input_schema(),
    )
}
