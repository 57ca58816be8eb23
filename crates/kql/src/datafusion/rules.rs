//! The corrections of DataFusion 55.2: which rules are removed, wrapped or complemented, and why.
//!
//! Read this file when upgrading DataFusion. A correction names the rule that it corrects; a session cannot be built if its
//! optimiser has no rule of that name. The canary of a correction fails without the correction. Once it passes without the
//! correction, the correction can be removed.

use std::sync::Arc;

use datafusion::optimizer::Optimizer;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;

use super::cancellation;
use super::corrections::{
    functional_dependencies, growing_filter, input_equivalences, key_names, large_literal,
    lost_order, ordered_input, reversed_comparison, self_equality, statistics_cost,
    statistics_names, volatile_filter,
};
use super::partitioning::increase;
use super::planner::{KqlQueryPlanner, PlanPass};
use super::wrap::{
    AddedPhysical, LogicalRule, Optimize, OptimizeWith, PhysicalRule, RewriteWith, WrappedLogical,
    WrappedPhysical,
};

/// The rule of the logical optimiser that plans with DISTINCT require.
pub const DISTINCT_RULE: &str = "replace_distinct_aggregate";

/// One correction of DataFusion.
#[derive(Debug)]
pub(super) struct Correction {
    /// The names of the rules of DataFusion that are corrected, or whose output is; none if the correction concerns all
    /// rules.
    pub(super) rules: &'static [&'static str],
    /// How it is corrected.
    pub(super) action: Action,
    /// The defect of DataFusion, in one sentence.
    pub(super) because: &'static str,
    /// The report of the defect in DataFusion's repository.
    pub(super) upstream: &'static str,
    /// The proof that the correction is needed.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read it"))]
    pub(super) canary: Canary,
}

/// The way in which a [`Correction`] corrects a rule.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// The rule is removed from the logical optimiser.
    Remove,
    /// A function wraps the rule of the logical optimiser.
    WrapLogical(RewriteWith),
    /// A function wraps the rule of the physical optimiser.
    WrapPhysical(OptimizeWith),
    /// A rule of this name runs before the rule of the physical optimiser.
    Before(&'static str, Optimize),
    /// A pass over the optimised logical plan, before physical planning, avoids the defect.
    Pass(PlanPass),
    /// The binder builds plans that the rule handles correctly.
    Bind,
}

/// The proof that a [`Correction`] is needed.
#[derive(Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "tests read it"))]
pub(super) enum Canary {
    /// A query and its correct answer, in the form of [`crate::definition::Example`]. Without the correction the query
    /// returns another answer or fails.
    Answer(&'static str, &'static str),
    /// A query and a node of its physical plan. The correction concerns cancellation or cost; without it the plan has no such
    /// node.
    Node(&'static str, &'static str),
    /// A test of a module of `corrections/`, for a correction that no session can omit or that concerns the cost of planning:
    /// the module and the test.
    Test(&'static str, &'static str),
}

const NOT_REPORTED: &str = "not reported";

/// Rules of DataFusion that rewrite what no plan of KQL has: subqueries in expressions (sub-queries are steps or joins) and windows (window
/// functions are transforms). Each would traverse every plan, the logical ones several times.
pub(super) const INAPPLICABLE: [&str; 6] = [
    "rewrite_set_comparison",
    "decorrelate_predicate_subquery",
    "scalar_subquery_to_join",
    "decorrelate_lateral_join",
    "WindowTopN",
    "LimitPushPastWindows",
];

/// All corrections, in the order in which they are applied.
pub(super) static CORRECTIONS: [Correction; 18] = [
    Correction {
        rules: &["extract_equijoin_predicate"],
        action: Action::Remove,
        because: "a predicate over a join becomes a key of it, and keys are equal where both are null",
        upstream: "https://github.com/apache/datafusion/pull/12458, closed without a merge",
        canary: Canary::Answer(
            "let T = datatable(k:long, a:datetime)[1, datetime(null), 2, datetime(2026-01-01)];
            let U = datatable(k:long, b:datetime)[1, datetime(null), 2, datetime(2026-01-01)];
            T | join kind=inner U on k | where startofmonth(a) == startofmonth(b) | project k",
            "k:long\n2",
        ),
    },
    Correction {
        rules: &["extract_leaf_expressions", "push_down_leaf_projections"],
        action: Action::Remove,
        because: "they move accesses to struct fields, which no plan here has, and fail if common subexpressions have a name twice",
        upstream: "related: https://github.com/apache/datafusion/issues/25459",
        canary: Canary::Answer(
            "datatable(k:long)[3, 3, 1] | distinct k
            | summarize n3 = sum(iff(true, k, -1)), n4 = sum(k), n5 = percentile(datetime_diff('hour', datetime(1969-12-31 23:59:59), datetime(2024-02-29 12:34:56.7891234)), 95) by n1 = case(false, 0.0, 0.0), n2 = coalesce(0.5, real(nan))
            | extend n6 = not(true)",
            "n1:real, n2:real, n3:long, n4:long, n5:long, n6:bool\n0.0 | 0.5 | 4 | 4 | -474781 | false",
        ),
    },
    Correction {
        rules: &[DISTINCT_RULE, "eliminate_join", "optimize_projections"],
        action: Action::WrapLogical(functional_dependencies::rewrite),
        because: "the keys of an aggregation are taken for keys of later ones, also if a join repeats them, so other keys and DISTINCT are removed",
        upstream: "related: https://github.com/apache/datafusion/pull/23821",
        canary: Canary::Answer(
            "datatable(k:long)[1, 2] | distinct k
            | join kind=inner (datatable(k:long, x:string)[1, 'a', 1, 'b', 2, 'c']) on k
            | summarize by k, x | project k | distinct k | sort by k asc",
            "k:long\n1\n2",
        ),
    },
    Correction {
        rules: &["push_down_filter"],
        action: Action::WrapLogical(volatile_filter::rewrite),
        because: "a volatile predicate reads no column, so it is pushed below nodes that make other rows",
        upstream: "related: https://github.com/apache/datafusion/issues/25415",
        canary: Canary::Answer(
            "range x from 1 to 100000 step 1 | summarize n = count() by k = x % 2000 | where rand() < 0.5
            | summarize half = count() between (800 .. 1200), whole = min(n) == 50",
            "half:bool, whole:bool\ntrue | true",
        ),
    },
    Correction {
        rules: &["push_down_filter"],
        action: Action::WrapLogical(reversed_comparison::rewrite),
        because: "an equality of a column and one of its literal with the column, in one filter, are taken for two values, so no row passes",
        upstream: NOT_REPORTED,
        canary: Canary::Answer(
            "datatable(k:long)[1, 2, 3] | where k == 2 | where 2 == iff(true, k, k)",
            "k:long\n2",
        ),
    },
    Correction {
        rules: &["push_down_filter"],
        action: Action::WrapLogical(growing_filter::rewrite),
        because: "a filter that passes a projection gets the expression of a column for each use of it, so it may double with each projection",
        upstream: "related: https://github.com/apache/datafusion/pull/25456",
        canary: Canary::Test(
            "growing_filter",
            "conditions_do_not_grow_beyond_the_bound",
        ),
    },
    Correction {
        rules: &["eliminate_outer_join"],
        action: Action::WrapLogical(growing_filter::rewrite_outer_join),
        because: "a filter is copied through all projections below it, to find out whether it rejects rows of an outer join",
        upstream: "related: https://github.com/apache/datafusion/pull/25456",
        canary: Canary::Test(
            "growing_filter",
            "columns_that_are_computed_in_many_steps_can_be_filtered_by",
        ),
    },
    Correction {
        rules: &["FilterPushdown", "FilterPushdown(Post)"],
        action: Action::WrapPhysical(growing_filter::optimize),
        because: "the same holds for filters of physical plans, and for those that are found while they run",
        upstream: "related: https://github.com/apache/datafusion/pull/25456",
        canary: Canary::Test(
            "growing_filter",
            "columns_that_are_computed_in_many_steps_can_be_filtered_by",
        ),
    },
    Correction {
        rules: &["FilterPushdown", "FilterPushdown(Post)"],
        action: Action::WrapPhysical(key_names::optimize),
        because: "a filter by a key of an aggregation is passed to the column of the input with the name of the key, also if the key is computed",
        upstream: NOT_REPORTED,
        canary: Canary::Answer(
            "datatable(x:long)[1, 2, 6, 7] | where x != 2 | summarize n = count() by x = bin(x, 5) | where rand() < 2 and x <= 5 | sort by x asc",
            "x:long, n:long\n0 | 1\n5 | 2",
        ),
    },
    Correction {
        rules: &["aggregate_statistics"],
        action: Action::WrapPhysical(statistics_names::optimize),
        because: "a value of statistics is named by its aggregate, and the nodes above look for the column of the plan",
        upstream: NOT_REPORTED,
        canary: Canary::Answer(
            "datatable(k:long)[1, 2] | summarize n1 = sum(k), n2 = max(k), n3 = count()
            | summarize n4 = countif(n3 in (2, -1)) | union (datatable(k:long)[3]) | summarize n5 = percentile(k - n4, 0)",
            "n5:long\nnull",
        ),
    },
    Correction {
        rules: &["EnsureRequirements"],
        action: Action::WrapPhysical(statistics_cost::optimize),
        because: "the statistics of everything below a node are computed anew for each node, so planning a long chain takes cubic time",
        upstream: "https://github.com/apache/datafusion/issues/20184",
        canary: Canary::Test(
            "statistics_cost",
            "statistics_below_a_long_chain_are_not_recomputed_for_each_node",
        ),
    },
    Correction {
        rules: &["SanityCheckPlan"],
        action: Action::Before("sort what is required", ordered_input::optimize),
        because: "an order that is lost after the sorts were placed, as that of an aggregation over constant keys, fails the check",
        upstream: NOT_REPORTED,
        canary: Canary::Answer(
            "datatable(k:long, s:string, c:long)[]
            | join kind=rightouter (datatable(n:string)['b', 'a']) on $left.s == $right.n
            | sort by k asc nulls last, s desc, n asc | take 5 | distinct k, s, c | distinct k, s
            | sort by k asc | extend row = row_number()",
            "k:long, s:string, row:long\nnull |  | 1",
        ),
    },
    Correction {
        rules: &["SanityCheckPlan"],
        action: Action::Before("increase partitions", increase::optimize),
        because: "the hash table of a partition grows and is dropped in one piece, which with tens of millions of entries delays cancellation by seconds",
        upstream: NOT_REPORTED,
        canary: Canary::Node(
            "range x from 1 to 9000000 step 1 | summarize count() by x",
            "CoalesceHashPartitionsExec",
        ),
    },
    Correction {
        rules: &[],
        action: Action::Pass(large_literal::make_evaluable),
        because: "every byte of a literal is written wherever it names a column, so a large value is a call that no rule evaluates",
        upstream: NOT_REPORTED,
        canary: Canary::Test(
            "large_literal",
            "a_large_value_is_not_part_of_column_names",
        ),
    },
    Correction {
        rules: &["EnsureRequirements"],
        action: Action::Pass(self_equality::negate_inequalities),
        because: "an equality of a column with an expression of it is substituted into itself, so an order of the column is not recognised",
        upstream: NOT_REPORTED,
        canary: Canary::Answer(
            "datatable(s:string, n:long)['b', 1, 'B', 2, 'a', 3] | where tolower(s) == s | top 3 by s asc | summarize l = make_list(s)",
            "l:dynamic\n[\"a\",\"b\"]",
        ),
    },
    Correction {
        rules: &["EnsureRequirements"],
        action: Action::Pass(lost_order::keep_in_plan),
        because: "a sort is removed if its keys were dropped above it, and tables in memory are repartitioned by batches",
        upstream: NOT_REPORTED,
        canary: Canary::Answer(
            "datatable(k:long, x:string)[3, 'a', 1, 'b', 2, 'c'] | sort by k asc | project x | summarize l = make_list(x)",
            "l:dynamic\n[\"b\",\"c\",\"a\"]",
        ),
    },
    Correction {
        rules: &["EnsureRequirements"],
        action: Action::Pass(input_equivalences::hide_in_plan),
        because: "a column that is constant in the inputs of a union or an outer join is inferred to be constant in its output, so sorts by it are removed",
        upstream: NOT_REPORTED,
        canary: Canary::Answer(
            "datatable(k:long)[1] | extend n = 0 | union (datatable(k:long)[1, 2] | extend n = 3) | distinct n | sort by n desc | extend row = row_number()",
            "n:long, row:long\n3 | 1\n0 | 2",
        ),
    },
    Correction {
        rules: &["optimize_projections"],
        action: Action::Bind,
        because: "two equal projections in a row are taken for one, also if they compute, so the binder makes no two projections equal",
        upstream: "https://github.com/apache/datafusion/pull/24686, not in 55.2",
        canary: Canary::Test(
            "distinct_projections",
            "datafusion_merges_two_equal_projections",
        ),
    },
];

/// A correction names a rule that DataFusion does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "DataFusion has no rule '{rule}', which is corrected because {because} (upstream: {upstream})"
)]
pub struct MissingRule {
    /// The name of the rule.
    pub rule: &'static str,
    /// The defect of the rule.
    pub because: &'static str,
    /// The report of the defect in DataFusion's repository.
    pub upstream: &'static str,
}

/// The rules of the two optimisers, and the planner between them.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) logical: Vec<LogicalRule>,
    pub(super) physical: Vec<PhysicalRule>,
    pub(super) planner: KqlQueryPlanner,
}

impl Rules {
    /// DataFusion's own rules, as far as plans of KQL have what they rewrite.
    pub(super) fn of_datafusion() -> Rules {
        let applies = |name: &str| !INAPPLICABLE.contains(&name);
        let (mut logical, mut physical) = (Optimizer::new().rules, PhysicalOptimizer::new().rules);
        logical.retain(|rule| applies(rule.name()));
        physical.retain(|rule| applies(rule.name()));
        Rules {
            logical,
            physical,
            planner: KqlQueryPlanner::default(),
        }
    }

    /// The rules with corrections.
    ///
    /// # Errors
    /// A correction names a rule that is not among DataFusion's.
    pub(super) fn corrected(
        mut self,
        corrections: impl IntoIterator<Item = &'static Correction>,
    ) -> Result<Rules, MissingRule> {
        for correction in corrections {
            for rule in correction.rules {
                let found = self.correct(rule, correction.action);
                found.ok_or(MissingRule {
                    rule,
                    because: correction.because,
                    upstream: correction.upstream,
                })?;
            }
            if let Action::Pass(pass) = correction.action {
                self.planner.passes.push(pass);
            }
        }
        Ok(self)
    }

    /// The rules, which abort planning if the query is cancelled.
    pub(super) fn cancellable(self) -> Rules {
        Rules {
            logical: cancellation::cancellable_logical(self.logical),
            physical: cancellation::cancellable_physical(self.physical),
            planner: self.planner,
        }
    }

    /// Corrects the rule of this name; none if there is no such rule.
    fn correct(&mut self, name: &str, action: Action) -> Option<()> {
        let logical = self.logical.iter().position(|rule| rule.name() == name);
        let physical = self.physical.iter().position(|rule| rule.name() == name);
        match action {
            Action::Remove => {
                self.logical.remove(logical?);
            }
            Action::WrapLogical(rewrite) => {
                let slot = self.logical.get_mut(logical?)?;
                let rule = Arc::clone(slot);
                *slot = Arc::new(WrappedLogical { rule, rewrite });
            }
            Action::WrapPhysical(optimize) => {
                let slot = self.physical.get_mut(physical?)?;
                let rule = Arc::clone(slot);
                *slot = Arc::new(WrappedPhysical { rule, optimize });
            }
            Action::Before(name, optimize) => {
                let added = AddedPhysical { name, optimize };
                self.physical.insert(physical?, Arc::new(added));
            }
            Action::Pass(_) | Action::Bind => {
                logical.or(physical)?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
