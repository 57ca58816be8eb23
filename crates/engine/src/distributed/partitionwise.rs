//! Partitionwise aggregation: each node computes the groups of its share in full.
//!
//! Rows of different bins of time are never in the same group. If a key of an aggregation is `bin(timestamp, width)`, and each bin lies at one node, the nodes return
//! groups in place of the states of a partial aggregation, and nothing is left to merge. Bins of rows that are in no segment belong to the node of the query.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use hindsight_kql::{bin_of_column, passes_rows};
use hindsight_store::{
    MemoryTimes, NodeId, TICKS_PER_HOUR, TIMESTAMP, TimeRange, scanned_column, scanned_parts,
    times_in_memory,
};

use super::fragments::{Reduction, divisible_bytes, reduction};
use super::placement::{Hour, Unit, cost, hour_of};

type Plan = Arc<dyn ExecutionPlan>;

/// An aggregation in two phases.
pub(super) struct TwoPhases<'a> {
    last: &'a Plan,
    partial: &'a AggregateExec,
}

impl<'a> TwoPhases<'a> {
    /// `None` if `plan` is another node, or an aggregation that other nodes could not compute.
    pub(super) fn of(plan: &'a Plan) -> Option<TwoPhases<'a>> {
        let last = plan.downcast_ref::<AggregateExec>()?;
        let is_last = matches!(
            last.mode(),
            AggregateMode::Final | AggregateMode::FinalPartitioned
        );
        if !is_last || last.limit_options().is_some() || plan.output_ordering().is_some() {
            return None;
        }
        let partial = partial_phase(last.input())?;
        let is_plain = partial.group_expr().is_single();
        is_plain.then_some(TwoPhases {
            last: plan,
            partial,
        })
    }

    /// What is aggregated.
    pub(super) fn input(&self) -> &'a Plan {
        self.partial.input()
    }

    /// The aggregation over another input, in one phase if the input has one partition.
    pub(super) fn over(&self, input: Plan) -> Result<Plan> {
        if input.output_partitioning().partition_count() == 1 {
            let single = AggregateExec::try_new(
                AggregateMode::Single,
                self.partial.group_expr().clone(),
                self.partial.aggr_expr().to_vec(),
                self.partial.filter_expr().to_vec(),
                Arc::clone(&input),
                self.partial.input_schema(),
            )?;
            if single.schema() == self.last.schema() {
                return Ok(Arc::new(single));
            }
        }
        over(self.last, input)
    }

    /// Units that have no bin in common, and the width of the bins: units may be cut where a bin begins. `None` if no key has bins, or if they are not known.
    ///
    /// Hours with rows of the same bin are one unit. Bins that are wider than an hour must not make any: it would be read where no other query reads it.
    pub(super) fn units(&self, own: NodeId) -> Option<(Vec<Unit>, i64)> {
        let keys = self.partial.group_expr().expr().iter();
        let mut keys = keys.filter_map(|(expr, _)| Reads::of(self.input(), expr));
        keys.find_map(|reads| reads.units(own))
    }
}

/// The partial phase of an aggregation, below what unites or distributes its partitions.
fn partial_phase(plan: &Plan) -> Option<&AggregateExec> {
    if reduction(plan) == Some(Reduction::Aggregate) {
        return plan.downcast_ref::<AggregateExec>();
    }
    let passes_all = match plan.downcast_ref::<CoalescePartitionsExec>() {
        Some(merged) => merged.fetch().is_none(),
        None => plan.is::<RepartitionExec>(),
    };
    match plan.children().as_slice() {
        [input] if passes_all => partial_phase(input),
        _ => None,
    }
}

/// A plan from its root to its partial phase, over another input of that.
fn over(plan: &Plan, input: Plan) -> Result<Plan> {
    let is_partial = reduction(plan) == Some(Reduction::Aggregate);
    let input = match plan.children().as_slice() {
        [child] if !is_partial => over(child, input)?,
        _ => input,
    };
    replace_children_if_necessary(Arc::clone(plan), vec![input])
}

/// A key: a column of times, or the bins of one.
#[derive(Clone, Copy)]
struct Key {
    column: usize,
    width: Option<i64>,
}

impl Key {
    fn of(expr: &Arc<dyn PhysicalExpr>) -> Option<Key> {
        if let Some(column) = expr.downcast_ref::<Column>() {
            return Some(Key {
                column: column.index(),
                width: None,
            });
        }
        let (column, width) = bin_of_column(expr)?;
        Some(Key {
            column,
            width: Some(width),
        })
    }

    /// The key over the input of a node that returns `expr` as the column of this key.
    fn through(self, expr: &Arc<dyn PhysicalExpr>) -> Option<Key> {
        let below = Key::of(expr)?;
        let width = match (self.width, below.width) {
            (Some(_), Some(_)) => return None,
            (own, other) => own.or(other),
        };
        Some(Key { width, ..below })
    }
}

/// What is read of an hour.
#[derive(Clone, Copy)]
struct Read {
    times: TimeRange,
    cost: u64,
}

impl Read {
    fn add(&mut self, other: Read) {
        self.times.from = self.times.from.min(other.times.from);
        self.times.to = self.times.to.max(other.times.to);
        self.cost += other.cost;
    }
}

/// What a plan reads whose rows a key bins.
#[derive(Default)]
struct Reads {
    width: Option<i64>,
    hours: BTreeMap<Hour, Read>,
    /// The times of what is in no segment.
    others: Vec<TimeRange>,
}

impl Reads {
    /// `None` if `expr` does not bin the times of all rows of `plan` by the same width, or if their times are not known.
    fn of(plan: &Plan, expr: &Arc<dyn PhysicalExpr>) -> Option<Reads> {
        let mut reads = Reads::default();
        reads.add(plan, Key::of(expr)?, true)?;
        Some(reads)
    }

    /// Adds a plan below one of which each node reads its part (`divided`), or that stays at the node of the query.
    fn add(&mut self, plan: &Plan, key: Key, divided: bool) -> Option<()> {
        // As `Part::of` divides it.
        let divided = divided && divisible_bytes(plan).is_some();
        if let Some(parts) = scanned_parts(plan.as_ref()) {
            if !divided {
                return None;
            }
            let expr = scanned_column(plan.as_ref(), key.column)?;
            self.add_width(key.through(&expr).filter(|_| reads_time(&expr))?)?;
            for part in parts {
                let read = Read {
                    times: part.times,
                    cost: cost(&part),
                };
                let hour = hour_of(part.app, part.earliest);
                self.hours
                    .entry(hour)
                    .or_insert(Read { cost: 0, ..read })
                    .add(read);
            }
            return Some(());
        }
        if let Some(times) = times_in_memory(plan.as_ref(), key.column) {
            self.add_width(key)?;
            if let MemoryTimes::Between(from, to) = times {
                self.others.push(TimeRange { from, to });
            }
            return Some(());
        }
        if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
            let column = projection.expr().get(key.column)?;
            return self.add(projection.input(), key.through(&column.expr)?, divided);
        }
        if let Some(filter) = plan.downcast_ref::<FilterExec>() {
            let column = match filter.projection().as_ref() {
                Some(columns) => *columns.get(key.column)?,
                None => key.column,
            };
            return self.add(filter.input(), Key { column, ..key }, divided);
        }
        if !passes_rows(plan.as_ref()) && !plan.is::<EmptyExec>() {
            return None;
        }
        let mut inputs = plan.children().into_iter();
        inputs.try_for_each(|input| self.add(input, key, divided))
    }

    fn add_width(&mut self, key: Key) -> Option<()> {
        let width = key.width?;
        (*self.width.get_or_insert(width) == width).then_some(())
    }

    /// As [`TwoPhases::units`].
    fn units(self, own: NodeId) -> Option<(Vec<Unit>, i64)> {
        let width = self.width?;
        let others = self.others.iter().map(|times| bins(*times, width));
        let mut others: Vec<TimeRange> = others.collect();
        others.sort_unstable_by_key(|times| times.from);
        let mut hours: Vec<(Hour, Read)> = self.hours.into_iter().collect();
        hours.sort_unstable_by_key(|(hour, read)| (read.times.from, *hour));
        let mut units: Vec<Unit> = Vec::new();
        for (hour, read) in hours {
            let times = bins(read.times, width);
            match units.last_mut() {
                Some(unit) if times.from <= unit.times.to => {
                    unit.hours.push(hour);
                    unit.times.to = unit.times.to.max(times.to);
                    unit.cost += read.cost;
                }
                _ => units.push(Unit {
                    hours: vec![hour],
                    times,
                    cost: read.cost,
                    node: None,
                }),
            }
        }
        let units = units.into_iter();
        let units: Vec<Unit> = units.flat_map(|u| with_others(u, &others, own)).collect();
        let is_wide = width > TICKS_PER_HOUR;
        let mixes = |unit: &Unit| unit.node.is_none() && unit.hours.len() > 1;
        (!is_wide || !units.iter().any(mixes)).then_some((units, width))
    }
}

/// The times of whole bins.
fn bins(times: TimeRange, width: i64) -> TimeRange {
    let begin = |time: i64| time.div_euclid(width).saturating_mul(width);
    TimeRange {
        from: begin(times.from),
        to: begin(times.to).saturating_add(width - 1),
    }
}

/// A unit, without the bins that have rows in no segment: these are units of the node of the query. `others` has the times of these bins in order.
fn with_others(unit: Unit, others: &[TimeRange], own: NodeId) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut rest = Some(unit);
    for bins in others {
        let Some(unit) = rest.take() else {
            break;
        };
        let (before, within) = unit.cut(bins.from);
        units.extend(before);
        let (within, after) = match within {
            Some(within) => within.cut(bins.to.saturating_add(1)),
            None => (None, None),
        };
        units.extend(within.map(|within| Unit {
            node: Some(own),
            ..within
        }));
        rest = after;
    }
    units.extend(rest);
    units
}

/// Whether an expression over the columns of a table reads the times of its items.
fn reads_time(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let columns = collect_columns(expr);
    columns.iter().all(|column| column.name() == TIMESTAMP)
}
