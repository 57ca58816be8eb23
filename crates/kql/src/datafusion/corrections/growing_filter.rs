//! Bounds what filters become when they pass projections.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_expr::expressions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::datafusion::filter_size::{is_too_large, nodes};
use crate::datafusion::hidden::{HiddenExec, Hide};

/// Pushes filters down, except conditions that computed columns would make too large.
///
/// DataFusion 55.2 puts the expression of a column in place of each use of it. A condition behind 40 times `extend x = x + x` would have 2^40 nodes,
/// and one behind 300 times `extend x = x + 1` takes a minute, because the type of each is derived by the names of all its parts.
pub(in crate::datafusion) fn rewrite(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Filter(top) = &plan else {
        return rule.rewrite(plan, config);
    };
    // The rule merges adjacent filters before it moves them.
    let (mut conditions, mut below) = (split_conjunction(&top.predicate), &top.input);
    while let LogicalPlan::Filter(filter) = below.as_ref() {
        conditions.extend(split_conjunction(&filter.predicate));
        below = &filter.input;
    }
    let of_condition = |condition: &Expr| becomes_too_large(condition, below);
    let (stay, pass): (Vec<_>, Vec<_>) = conditions.into_iter().partition(|it| of_condition(it));
    let all = |conditions: Vec<&Expr>| conjunction(conditions.into_iter().cloned());
    let Some(staying) = all(stay) else {
        return rule.rewrite(plan, config);
    };
    let Some(predicate) = all(pass) else {
        return Ok(Transformed::no(plan));
    };
    let (mut filter, mut passing) = (top.clone(), top.clone());
    passing.predicate = predicate;
    passing.input = Arc::clone(below);
    let pushed = rule.rewrite(LogicalPlan::Filter(passing), config)?;
    if !pushed.transformed {
        return Ok(Transformed::no(plan));
    }
    filter.predicate = staying;
    filter.input = Arc::new(pushed.data);
    Ok(Transformed::yes(LogicalPlan::Filter(filter)))
}

/// Makes outer joins inner ones where a filter rejects rows without a partner, unless the projections between the filter and the join would make a copy of
/// the filter too large.
///
/// DataFusion 55.2 copies the filter through all projections below it to find out, whether there is a join at their end or not.
pub(in crate::datafusion) fn rewrite_outer_join(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    if let LogicalPlan::Filter(filter) = &plan
        && is_too_large_behind_projections(&filter.predicate, &filter.input)
    {
        return Ok(Transformed::no(plan));
    }
    rule.rewrite(plan, config)
}

/// Whether a condition would become too large below all projections of a chain.
fn is_too_large_behind_projections(condition: &Expr, mut below: &LogicalPlan) -> bool {
    let mut size = nodes(condition, &|_| 1);
    let mut uses: HashMap<Column, usize> = HashMap::new();
    for (column, times) in condition.column_refs_counts() {
        uses.insert(column.clone(), times);
    }
    while let LogicalPlan::Projection(projection) = below {
        let (before, mut inner_uses) = (size, HashMap::new());
        for (column, times) in uses {
            let index = projection.schema.maybe_index_of_column(&column);
            let Some(computed) = index.and_then(|index| projection.expr.get(index)) else {
                continue;
            };
            let grows_by = nodes(computed, &|_| 1).saturating_sub(1);
            size = size.saturating_add(times.saturating_mul(grows_by));
            for (inner, count) in computed.column_refs_counts() {
                let inner_times = inner_uses.entry(inner.clone()).or_insert(0usize);
                *inner_times = inner_times.saturating_add(times.saturating_mul(count));
            }
        }
        if is_too_large(before, size) {
            return true;
        }
        (uses, below) = (inner_uses, projection.input.as_ref());
    }
    false
}

/// Whether a condition would become too large below a node that computes columns.
fn becomes_too_large(condition: &Expr, node: &LogicalPlan) -> bool {
    let (schema, computed): (&DFSchema, _) = match node {
        LogicalPlan::Projection(projection) => (&projection.schema, &projection.expr),
        LogicalPlan::Aggregate(aggregate) => (&aggregate.schema, &aggregate.group_expr),
        _ => return false,
    };
    let of_column = |column: &Column| {
        let index = schema.maybe_index_of_column(column);
        let computed = index.and_then(|index| computed.get(index));
        computed.map_or(1, |computed| nodes(computed, &|_| 1))
    };
    is_too_large(nodes(condition, &|_| 1), nodes(condition, &of_column))
}

/// As [`rewrite`], for physical plans: also the filters that `top` and joins find while they run are passed to the nodes below.
pub(in crate::datafusion) fn optimize(
    rule: &dyn PhysicalOptimizerRule,
    plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    let bounded = plan.transform_up(|node| {
        Ok(if node.downcast_ref().is_some_and(computes) {
            Transformed::yes(Arc::new(HiddenExec::new(Hide::Computations, node)) as _)
        } else {
            Transformed::no(node)
        })
    });
    let pushed = rule.optimize(bounded?.data, config)?;
    HiddenExec::remove(Hide::Computations, pushed)
}

fn computes(projection: &ProjectionExec) -> bool {
    let mut exprs = projection.expr().iter();
    exprs.any(|computed| !computed.expr.is::<expressions::Column>())
}

#[cfg(test)]
mod tests {
    use datafusion::common::tree_node::TreeNodeRecursion;
    use datafusion::optimizer::push_down_filter::PushDownFilter;
    use datafusion::optimizer::{Optimizer, OptimizerContext};

    use super::*;
    use crate::datafusion::filter_size::MOST_NODES;
    use crate::datafusion::session;
    use crate::datafusion::wrap::{LogicalRule, WrappedLogical};
    use crate::testing::{answer_in, bound};

    /// A chain of projections, each of which doubles the expression of `x`.
    fn doubled(steps: usize) -> String {
        let steps = "| extend x = x + x ".repeat(steps);
        format!("range x from 1 to 3 step 1 {steps}")
    }

    /// The size of the largest condition after the rule has pushed down those of a query.
    fn largest_condition(rule: LogicalRule, query: &str) -> usize {
        let plan = bound(query).results.pop().expect("a result").plan;
        let optimizer = Optimizer::with_rules(vec![rule]);
        let plan = optimizer.optimize(plan, &OptimizerContext::new(), |_, _| {});
        let mut largest = 0;
        let plan = plan.expect("it is optimised");
        let seen = plan.apply(|node| {
            if let LogicalPlan::Filter(filter) = node {
                largest = largest.max(nodes(&filter.predicate, &|_| 1));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        seen.expect("the plan is read");
        largest
    }

    #[test]
    fn conditions_do_not_grow_beyond_the_bound() {
        let rule = || Arc::new(PushDownFilter::new()) as LogicalRule;
        let corrected = || {
            Arc::new(WrappedLogical {
                rule: rule(),
                rewrite,
            }) as LogicalRule
        };
        let query = format!("{} | where x > 1", doubled(12));
        assert!(largest_condition(rule(), &query) > 1 << 12);
        let size = largest_condition(corrected(), &query);
        assert!((MOST_NODES / 4..=MOST_NODES).contains(&size), "{size}");
    }

    #[test]
    fn columns_that_are_computed_in_many_steps_can_be_filtered_by() {
        let session = session::context().expect("DataFusion has the rules");
        let (most, steps) = (3i64 << 40, doubled(40));
        let sums = "| summarize n = count() by x = x + x ".repeat(20);
        for (query, answer) in [
            (
                format!("{steps} | where x >= {most}"),
                format!("x:long\n{most}"),
            ),
            (format!("{steps} | top 1 by x"), format!("x:long\n{most}")),
            (
                format!("{steps} | extend y = x | where y >= {most} and x > 0 | project y"),
                format!("y:long\n{most}"),
            ),
            (
                format!(
                    "range x from {most} to {most} step 1 | join kind=inner ({steps}) on x | project x"
                ),
                format!("x:long\n{most}"),
            ),
            (
                format!("range x from 1 to 3 step 1 {sums} | where x > 3 | summarize n = count()"),
                "n:long\n3".to_owned(),
            ),
        ] {
            assert_eq!(answer_in(&query, &session), answer, "{query}");
        }
    }

    #[test]
    fn small_conditions_pass_where_large_ones_stay() {
        let rule = Arc::new(WrappedLogical {
            rule: Arc::new(PushDownFilter::new()),
            rewrite,
        });
        let query = format!(
            "range k from 1 to 3 step 1 | extend x = k {} | where x > 1 and k == 2",
            "| extend x = x + x ".repeat(12)
        );
        let plan = bound(&query).results.pop().expect("a result").plan;
        let optimizer = Optimizer::with_rules(vec![rule as LogicalRule]);
        let plan = optimizer.optimize(plan, &OptimizerContext::new(), |_, _| {});
        let plan = plan.expect("it is optimised").display_indent().to_string();
        let last = plan.lines().rev().find(|line| line.contains("Filter"));
        let last = last.expect("a filter");
        assert!(last.contains("k = ") && !last.contains("x"), "{plan}");
    }
}
