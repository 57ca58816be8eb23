//! Limits on the size of a query. Nested macros and nested unions can expand a short text without bound.

use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::Span;

use super::binder::Binder;
use crate::error::BindResult;
use crate::relation::Relation;
use crate::work::CancellationToken;

/// The maximum work of binding one query, in bound expressions and visited plan nodes.
const MAX_WORK: usize = 400_000;
/// The maximum number of nodes of a plan: a union of all tables of a hundred applications has about 4,000.
const MAX_NODES: usize = 10_000;
/// The maximum depth of a plan. The threads that execute queries have enough stack for it.
const MAX_DEPTH: usize = 4_000;
/// The number of bound expressions between two checks for cancellation.
const CANCELLATION_CHECK_INTERVAL: usize = 256;

impl Binder<'_> {
    /// Counts one bound expression.
    pub(crate) fn count_work(&mut self, span: Span) -> BindResult<()> {
        self.output.work += 1;
        if self.output.work > MAX_WORK {
            return Err(self.limit_exceeded("the query expands to too many expressions", span));
        }
        if self.output.work.is_multiple_of(CANCELLATION_CHECK_INTERVAL)
            && CancellationToken::current().is_cancelled()
        {
            return Err(self.limit_exceeded("the query was cancelled", span));
        }
        Ok(())
    }

    /// Returns the relation, or an error if its plan is too large. The traversal counts as work, too.
    pub(crate) fn bounded(&mut self, relation: Relation, span: Span) -> BindResult<Relation> {
        self.check_size(&relation.plan, span)?;
        Ok(relation)
    }

    /// Refuses a plan that is too large. The traversal counts as work, too.
    pub(crate) fn check_size(&mut self, plan: &LogicalPlan, span: Span) -> BindResult<()> {
        let size = Size::of(plan);
        self.output.work += size.nodes;
        let message = if size.nodes > MAX_NODES {
            format!(
                "the query reads and combines too much: its plan has more than {MAX_NODES} steps"
            )
        } else if size.depth > MAX_DEPTH {
            format!("the query has more than {MAX_DEPTH} steps one after the other")
        } else {
            return Ok(());
        };
        Err(self.limit_exceeded(message, span))
    }
}

/// Counts the size of a plan, up to the limits.
struct Size {
    nodes: usize,
    depth: usize,
}

impl Size {
    /// Iterative, because a deep plan would overflow the stack.
    fn of(plan: &LogicalPlan) -> Size {
        let mut size = Size { nodes: 0, depth: 0 };
        let mut open = vec![(plan, 1)];
        while let Some((plan, depth)) = open.pop() {
            size.nodes += 1;
            size.depth = size.depth.max(depth);
            if size.nodes > MAX_NODES || size.depth > MAX_DEPTH {
                break;
            }
            open.extend(plan.inputs().into_iter().map(|input| (input, depth + 1)));
        }
        size
    }
}
