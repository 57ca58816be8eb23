//! The rule that distributes the fragments of a plan that read much.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use hindsight_kql::{coalesces_hash_partitions, is_row_wise};
use hindsight_store::{NodeId, ScannedPart, scanned_parts, scanned_segments};

use super::exec::{DistributedExec, Share};
use super::fragments::{Part, Reduction, divisible_bytes, reduction};
use super::nodes::Distribution;
use super::partitionwise::TwoPhases;
use super::placement::Placement;

/// A node reads this part of its share more than its share, at most, where the bins of a query divide what it reads.
const UNEVEN: u64 = 4;

/// Distributes fragments that read many bytes over the nodes.
#[derive(Debug)]
pub(crate) struct DistributeFragments(pub(crate) Arc<Distribution>);

impl PhysicalOptimizerRule for DistributeFragments {
    fn name(&self) -> &str {
        "distribute_fragments"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.rewrite(plan, Above::default())
    }
}

/// What the nodes above a plan do with its rows.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    /// They end when a limit has enough of them.
    limits: bool,
    /// They merge the partitions by their order.
    merges: bool,
    /// They depend on the number of partitions, or on which of them has a row.
    counts: bool,
}

impl Above {
    /// Whether a fragment may be distributed below these nodes.
    fn permits(self, fragment: &Arc<dyn ExecutionPlan>, found: Reduction) -> bool {
        match found {
            Reduction::Aggregate => true,
            // The rows are few: the query ends when the limit has enough of them.
            Reduction::Filter => !self.limits,
            // The shares are further partitions, and each has first rows of its own.
            Reduction::First => {
                self.merges || fragment.output_partitioning().partition_count() == 1
            }
        }
    }

    fn child_of(self, plan: &dyn ExecutionPlan) -> Above {
        let merges = plan.is::<SortPreservingMergeExec>();
        let unites = merges || plan.is::<CoalescePartitionsExec>() || plan.is::<RepartitionExec>();
        let coalesces = coalesces_hash_partitions(plan);
        let passes_on =
            coalesces || is_row_wise(plan) || plan.is::<SortExec>() || plan.is::<LocalLimitExec>();
        Above {
            limits: is_limit(plan) || (self.limits && is_row_wise(plan)),
            merges,
            counts: !unites && (self.counts || !passes_on),
        }
    }
}

impl DistributeFragments {
    /// `plan` with its fragments distributed.
    fn rewrite(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        above: Above,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !above.counts
            && let Some(distributed) = self.partitionwise(&plan)?
        {
            return Ok(distributed);
        }
        let found = reduction(&plan);
        if let Some(found) = found.filter(|found| above.permits(&plan, *found))
            && self.reads_much(&plan, found)
            && let Some(distributed) = self.distributed(&plan, found)?
        {
            return Ok(distributed);
        }
        let above = above.child_of(plan.as_ref());
        let children = plan.children().into_iter();
        let children = children.map(|child| self.rewrite(Arc::clone(child), above));
        let children = children.collect::<Result<_>>()?;
        replace_children_if_necessary(plan, children)
    }

    fn reads_much(&self, plan: &Arc<dyn ExecutionPlan>, found: Reduction) -> bool {
        let bytes = match found {
            Reduction::Filter => divisible_bytes(plan),
            Reduction::Aggregate | Reduction::First => plan
                .children()
                .first()
                .and_then(|input| divisible_bytes(input)),
        };
        bytes.is_some_and(|bytes| bytes >= self.0.least_bytes)
    }

    /// The nodes that a query runs at, beginning with this one.
    fn nodes(&self) -> Vec<NodeId> {
        let others = self.0.others.iter().map(|node| node.id);
        std::iter::once(self.0.own).chain(others).collect()
    }

    /// An aggregation of which each node computes whole groups; `None` if `plan` is none, if its groups cannot be divided so that nodes read about the same, or
    /// if it has no message.
    fn partitionwise(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let Some(phases) = TwoPhases::of(plan) else {
            return Ok(None);
        };
        let bytes = divisible_bytes(phases.input()).unwrap_or(0);
        if bytes < self.0.least_bytes {
            return Ok(None);
        }
        let Some((units, width)) = phases.units(self.0.own) else {
            return Ok(None);
        };
        let placement = Placement::of_units(&self.nodes(), units, width);
        if !placement.is_even(UNEVEN) {
            return Ok(None);
        }
        let part = |part: Part<'_>| phases.over(part.of(phases.input())?);
        let distributed = self.over_shares(plan, &placement, part)?;
        let partitions = plan.output_partitioning().partition_count();
        Ok(distributed.map(|distributed| match partitions {
            1 => Arc::new(CoalescePartitionsExec::new(distributed)) as _,
            _ => distributed,
        }))
    }

    /// The fragment over the shares of all nodes; `None` if it has no message.
    fn distributed(
        &self,
        fragment: &Arc<dyn ExecutionPlan>,
        found: Reduction,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let placement = Placement::of(&self.nodes(), &segments(fragment));
        let part = |part: Part<'_>| part.of(fragment);
        let Some(distributed) = self.over_shares(fragment, &placement, part)? else {
            return Ok(None);
        };
        // The node above may rely on a single partition.
        if fragment.output_partitioning().partition_count() > 1 {
            return Ok(Some(distributed));
        }
        let fetch = fragment
            .downcast_ref::<SortExec>()
            .and_then(SortExec::fetch);
        Ok(Some(match fragment.output_ordering() {
            Some(order) if found == Reduction::First => {
                let merged = SortPreservingMergeExec::new(order.clone(), distributed);
                Arc::new(merged.with_fetch(fetch))
            }
            _ => Arc::new(CoalescePartitionsExec::new(distributed)),
        }))
    }

    /// `plan` over the shares of all nodes, of which `part` makes the plans; `None` if no other node has one, or if it has no message.
    fn over_shares(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        placement: &Placement,
        part: impl Fn(Part<'_>) -> Result<Arc<dyn ExecutionPlan>>,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let of = |node: NodeId| {
            part(Part {
                slices: &|app, earliest| placement.slices(node, app, earliest),
                with_others: node == self.0.own,
                partitions: self.0.partitions,
            })
        };
        let mut shares = Vec::new();
        for node in &self.0.others {
            let part = of(node.id)?;
            if !reads_segments(&part) {
                continue;
            }
            match self.0.codec.encode_plan(&part) {
                Ok(message) => shares.push(Share::new(node.clone(), message.into())),
                Err(error) => {
                    tracing::debug!(%error, "a part of a plan is not distributed");
                    return Ok(None);
                }
            }
        }
        if shares.is_empty() {
            return Ok(None);
        }
        let local = of(self.0.own)?;
        let distributed = DistributedExec::new(plan, local, shares, Arc::clone(&self.0));
        Ok(Some(Arc::new(distributed)))
    }
}

/// The segments that a fragment reads.
fn segments(fragment: &Arc<dyn ExecutionPlan>) -> Vec<ScannedPart> {
    let mut found = scanned_parts(fragment.as_ref()).unwrap_or_default();
    for child in fragment.children() {
        found.extend(segments(child));
    }
    found
}

/// Whether a fragment reads any segment.
fn reads_segments(fragment: &Arc<dyn ExecutionPlan>) -> bool {
    let children = fragment.children();
    scanned_segments(fragment.as_ref()).is_some_and(|segments| segments > 0)
        || children.into_iter().any(reads_segments)
}

fn is_limit(plan: &dyn ExecutionPlan) -> bool {
    let filter = plan.downcast_ref::<FilterExec>();
    let merged = plan.downcast_ref::<CoalescePartitionsExec>();
    plan.is::<GlobalLimitExec>()
        || plan.is::<LocalLimitExec>()
        || filter.is_some_and(|filter| filter.fetch().is_some())
        || merged.is_some_and(|merged| merged.fetch().is_some())
}
